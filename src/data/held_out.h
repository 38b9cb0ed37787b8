// Which documents are held out of training. Whole documents only, and the same ones on every machine.
#pragma once
#include <cstdint>
#include <string_view>

namespace onceover {

struct HeldOut {
  double fraction = 0;  // 0 .. 0.5 of the documents, by a hash of file name, place in the file and seed
  uint64_t every = 0;   // or: document every-1, 2*every-1, … of the corpus; 0 = by fraction
  uint64_t seed = 0;

  // Error unless the numbers make sense: both rules at once do not.
  void check() const;

  bool holds(std::string_view file_name, uint64_t document_in_file, uint64_t document) const;
};

}  // namespace onceover
