// The JSON header of a safetensors file, read from untrusted bytes.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weights/dtype.h"

namespace onceover {

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;  // bytes within the data, which starts behind the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // by name
  std::map<std::string, std::string> metadata;
};

// Checks everything that the format promises: one object that begins with '{'; unique names; a known dtype; a
// shape of at most 32 non-negative integers whose product times the element size does not overflow; two
// offsets; a range of exactly that many bytes; ranges that tile [0, data_bytes) with no hole, overlap or
// rest; __metadata__ from string to string, 16 MiB at most; no string, number or run of blanks longer than 1
// MiB but for the padding at the end. Error naming `where`, the tensor and the reason. Memory is bounded by
// 16 MiB and a small multiple of the entries read until the first fault.
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes,
                                           const std::string& where);

}  // namespace onceover
