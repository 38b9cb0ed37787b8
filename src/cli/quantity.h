// Numbers and sizes as a user writes them on the command line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace onceover {

// "8192", "8K" (x 1024) or "1M" (x 1048576): tokens, 1 to 2^30. Error naming `option` otherwise.
int64_t parse_tokens(const std::string& text, const std::string& option);

// "500000", "500K", "2G" (powers of 1024): bytes, 1 to 2^60. Error naming `option` otherwise.
int64_t parse_bytes(const std::string& text, const std::string& option);

// How elements are stored, and so what they weigh.
struct Storage {
  std::string name;
  double bytes_per_element;
  bool quantised;  // for large matrices; small weights stay f32
};

// Error naming `option` and the nearest known name.
const Storage& find_storage(const std::string& name, const std::string& option);
std::vector<std::string> storage_names();

}  // namespace onceover
