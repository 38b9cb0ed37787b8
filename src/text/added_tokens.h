// Tokens that are found in the text before it is cut into words, as the Hugging Face library finds them: the
// leftmost first, the longest of those that begin at one place.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

struct AddedToken {
  static constexpr size_t max_bytes = 1024;

  int id = 0;
  std::string content;       // 1 to max_bytes bytes of UTF-8
  bool special = false;      // a control token: not found in ordinary text
  bool normalized = false;   // is looked for in the normalised text
  bool single_word = false;  // only where no letter, digit or mark touches it
  bool lstrip = false;       // takes the white space before it too
  bool rstrip = false;       // and after it
};

// Finds some of them. Time: bytes of the text times bytes of the longest content. Safe to use from several
// threads.
class AddedTokenFinder {
 public:
  // A stretch of the text: one token, or text between tokens.
  struct Stretch {
    std::string_view text;
    const AddedToken* token = nullptr;
  };

  // `token` is looked for as `written`, which must not be empty. Of two that are written the same the first
  // is found. The token must outlive the finder.
  void add(const AddedToken& token, const std::string& written);

  // Whether a token may be found in the bytes [start, end) of the text.
  using Allowed = std::function<bool(const AddedToken& token, size_t start, size_t end)>;

  // All of `text`, in order, without empty stretches. Where a token is not allowed, the place that it takes
  // up still hides other tokens that overlap it.
  std::vector<Stretch> find(std::string_view text, const Allowed& allowed) const;

 private:
  struct Node {
    std::map<char, uint32_t> next;
    const AddedToken* token = nullptr;
  };
  struct Match {
    const AddedToken* token = nullptr;
    size_t bytes = 0;
  };

  Match longest_at(std::string_view text) const;

  std::vector<Node> nodes_{1};      // a tree by bytes, its root first
  std::array<bool, 256> begins_{};  // by byte: some token begins with it
};

}  // namespace onceover
