// safetensors files as damaged or hostile hands make them, each with what must be said about it.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace onceover {

struct DamagedFile {
  std::string name;
  std::string bytes;
  std::string tensor;  // that the message names; "" when the fault is not a tensor's
  std::string reason;  // words of the message; "" = the file is sound
};

inline std::string safetensors_bytes(const std::string& header, size_t data_bytes, uint64_t stated_length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &stated_length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

inline std::string safetensors_bytes(const std::string& header, size_t data_bytes) {
  return safetensors_bytes(header, data_bytes, header.size());
}

// `"name":{…}` as it stands in a header.
inline std::string tensor_json(const std::string& name, const std::string& dtype, const std::string& shape,
                               const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype, shape,
                     offsets);
}

inline std::string header_json(const std::vector<std::string>& tensors) {
  return fmt::format("{{{}}}", fmt::join(tensors, ","));
}

inline std::vector<DamagedFile> damaged_files() {
  const auto f32 = [](const char* name, const char* shape, const char* offsets) {
    return tensor_json(name, "F32", shape, offsets);
  };
  const auto file = [](const std::vector<std::string>& tensors, size_t data) {
    return safetensors_bytes(header_json(tensors), data);
  };
  const std::string sound = header_json({f32("a", "2,2", "0,16"), f32("b", "2", "16,24")});
  const std::string padding((8 - sound.size() % 8) % 8, ' ');
  const std::string nested =
      R"({"__metadata__":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  return {
      {"ok", safetensors_bytes(sound, 24), "", ""},
      {"hlen_max", safetensors_bytes(sound, 24, UINT64_MAX), "", "header of 18446744073709551615 bytes"},
      {"hlen_gt_file", safetensors_bytes(sound, 24, 1 << 20), "", "header of 1048576 bytes, but only"},
      {"hlen_zero", safetensors_bytes("", 24), "", "does not begin with '{'"},
      {"short7", std::string("\1\0\0\0\0\0\0", 7), "", "expected at least 8 bytes, found 7"},
      {"shape_lies", file({f32("a", "1000,1000", "0,4")}, 4), "a", "takes 4000000 bytes"},
      {"end_past_eof", file({f32("a", "4", "0,16")}, 8), "a",
       "ends at byte 16 of the data, but the file holds 8"},
      {"end_lt_begin", file({f32("a", "2", "16,8")}, 16), "a", "end at 8, before their begin at 16"},
      {"overlap", file({f32("a", "4", "0,16"), f32("b", "4", "8,24")}, 24), "b", "overlaps tensor 'a'"},
      {"hole", file({f32("a", "1", "0,4"), f32("b", "1", "8,12")}, 12), "b", "leaves a hole"},
      {"trailing", file({f32("a", "1", "0,4")}, 8), "a", "4 bytes follow the last tensor"},
      {"dup_key", file({f32("a", "1", "0,4"), f32("a", "2", "0,8")}, 8), "a", "occurs twice"},
      {"unknown_dtype", file({tensor_json("a", "Q7", "1", "18446744073709551000,4")}, 4), "a",
       "unknown dtype 'Q7'"},
      {"prod_overflow", file({f32("a", "4294967296,4294967296", "0,0")}, 0), "a", "larger than any file"},
      {"one_offset", file({f32("a", "1", "0")}, 4), "a", "data_offsets has 1 numbers, expected 2"},
      {"neg_offset", file({f32("a", "1", "-4,0")}, 4), "a", "the negative number -4"},
      {"nest100k", safetensors_bytes(nested, 0), "", "expected an object of strings, found an array"},
      {"meta_only", safetensors_bytes(R"({"__metadata__":{"key":"value"}})", 0), "", ""},
      {"scalar", file({f32("a", "", "0,4")}, 4), "", ""},
      {"zero_dim", file({f32("a", "0,4", "0,0")}, 0), "", ""},
      {"padded_header", safetensors_bytes(sound + padding, 24), "", ""},
  };
}

}  // namespace onceover
