// Ends a text at the first of some strings, without ever showing a part of one.
//
// Text that could be the beginning of a stop string is held back until it cannot be, so a stream shows
// exactly what the whole answer would. Of several stop strings the one that is complete first ends the text.
// One thread per object.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

class StopStrings {
 public:
  // Error when one is empty.
  explicit StopStrings(std::vector<std::string> stops);

  // The text that `more` lets go, perhaps none.
  std::string push(std::string_view more);
  // What is still held back: when generation ends for another reason.
  std::string finish();
  // A stop string was met; nothing comes any more.
  bool stopped() const { return stopped_; }

 private:
  size_t sure_length() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace onceover
