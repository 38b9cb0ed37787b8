// GGUF files as damaged or hostile hands make them, each with what must be said about it.
#pragma once
#include <string>
#include <vector>

#include "support/gguf_writer.h"

namespace onceover {

struct DamagedGguf {
  std::string name;
  std::string bytes;
  std::string subject;  // that the message names
  std::string reason;   // words of the message; "" = the file is sound
};

// Two tensors and a value of every kind.
inline GgufWriter sound_gguf() {
  GgufWriter writer;
  writer.value("general.name", 8, gguf_string("tiny")).value("count", 4, little_endian(7U));
  writer.value("scores", 9, gguf_array(6, 2, little_endian(0.5F) + little_endian(-1.0F)));
  writer.value("words", 9, gguf_array(8, 2, gguf_string("a") + gguf_string("bc")));
  writer.value("flags", 9, gguf_array(7, 2, std::string("\0\1", 2)));
  writer.value("nested", 9, gguf_array(9, 1, gguf_array(0, 3, "xyz")));
  writer.tensor("plain", {2, 3}, 0, std::string(24, '\1'))
      .tensor("blocks", {32, 2}, 8, std::string(68, '\2'));
  return writer;
}

// A tensor of one block of each type that can be dequantised.
inline std::string gguf_of_all_types() {
  GgufWriter writer;
  writer.tensor("F32", {1}, 0, std::string(4, '\1')).tensor("F16", {1}, 1, std::string(2, '\1'));
  writer.tensor("BF16", {1}, 30, std::string(2, '\1')).tensor("Q8_0", {32}, 8, std::string(34, '\2'));
  writer.tensor("Q4_0", {32}, 2, std::string(18, '\3')).tensor("Q4_1", {32}, 3, std::string(20, '\4'));
  writer.tensor("Q5_0", {32}, 6, std::string(22, '\5')).tensor("Q5_1", {32}, 7, std::string(24, '\6'));
  writer.tensor("Q4_K", {256}, 12, std::string(144, '\7')).tensor("Q5_K", {256}, 13, std::string(176, 'a'));
  return writer.tensor("Q6_K", {256}, 14, std::string(210, 'b')).file();
}

inline std::string nested_arrays(int depth) {
  std::string value = gguf_array(0, 1, "x");
  for (int i = 1; i < depth; i++) value = gguf_array(9, 1, value);
  return value;
}

// Faults of the header and the metadata.
inline std::vector<DamagedGguf> damaged_metadata() {
  const auto value = [](uint32_t type, const std::string& bytes) {
    return GgufWriter().value("k", type, bytes).file();
  };
  const auto alignment = [](uint32_t type, const std::string& bytes) {
    return GgufWriter().value("general.alignment", type, bytes).file();
  };
  const auto version = [](uint32_t said) {
    GgufWriter writer = sound_gguf();
    writer.version = said;
    return writer.file();
  };
  GgufWriter many_values = sound_gguf(), many_tensors = sound_gguf(), one_value_more = GgufWriter();
  many_values.said_values = UINT64_MAX / 8, many_tensors.said_tensors = UINT64_MAX;
  one_value_more.value("k", 8, gguf_string(std::string(40, 'x'))).said_values = 2;
  const std::string huge = little_endian(UINT64_MAX), sound = sound_gguf().file();
  return {
      {"ok", sound, "", ""},
      {"ok_v2", version(2), "", ""},
      {"ok_empty", GgufWriter().file(), "", ""},
      {"ok_depth8", value(9, nested_arrays(8)), "", ""},
      {"magic", "GGUX" + sound.substr(4), "", "not a GGUF file"},
      {"v1", version(1), "header", "version 1, expected 2 or 3"},
      {"v4", version(4), "header", "version 4, expected 2 or 3"},
      {"big_endian", version(3U << 24), "header", "byte-swapped (big-endian)"},
      {"many_values", many_values.file(), "header", "says 2305843009213693951 metadata values, but only"},
      {"many_tensors", many_tensors.file(), "header", "says 18446744073709551615 tensors, but only"},
      {"one_value_more", one_value_more.file(), "metadata value 1", "takes 8 bytes"},
      {"key_huge", GgufWriter().file().substr(0, 16) + little_endian(uint64_t{1}) + huge + "123456",
       "metadata value 0", "takes 18446744073709551615 bytes"},
      {"key_empty", GgufWriter().value("", 0, "xx").file(), "key ''", "is empty"},
      {"key_not_ascii", GgufWriter().value("a\xC3\xA9", 0, "x").file(), "key 'a\xC3\xA9'", "is not ASCII"},
      {"key_twice", GgufWriter().value("k", 0, "x").value("k", 4, "abcd").file(), "key 'k'", "occurs twice"},
      {"value_type", value(13, "abcd"), "key 'k'", "unknown type 13 of a value"},
      {"value_short", value(10, "abcd"), "key 'k'", "takes 8 bytes"},
      {"bool_2", value(7, "\2"), "key 'k'", "expected 0 or 1 as a bool, found 2"},
      {"string_huge", value(8, huge + "x"), "key 'k'", "takes 18446744073709551615 bytes"},
      {"array_type", value(9, gguf_array(99, 1, "x")), "key 'k'", "unknown type 99"},
      {"array_huge", value(9, gguf_array(4, uint64_t{1} << 62, "abcd")), "key 'k'",
       "elements, but only 4 bytes"},
      {"array_of_strings_huge", value(9, gguf_array(8, 1 << 20, gguf_string("x"))), "key 'k'",
       "says 1048576 elements"},
      {"array_bool_2", value(9, gguf_array(7, 2, "\1\2")), "key 'k'", "expected 0 or 1"},
      {"depth9", value(9, nested_arrays(9)), "key 'k'", "more than 8 deep"},
      {"depth1000", value(9, nested_arrays(1000)), "key 'k'", "more than 8 deep"},
      {"alignment_0", alignment(4, little_endian(0U)), "key 'general.alignment'", "found 0"},
      {"alignment_24", alignment(4, little_endian(24U)), "key 'general.alignment'", "a power of two"},
      {"alignment_4", alignment(4, little_endian(4U)), "key 'general.alignment'", "of at least 8, found 4"},
      {"alignment_u64", alignment(10, little_endian(uint64_t{32})), "key 'general.alignment'",
       "expected a u32, found u64"},
  };
}

// Faults of tensors.
inline std::vector<DamagedGguf> damaged_tensors() {
  const auto entry = [](std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
    return GgufWriter().entry("a", dims, type, offset).tensor("b", {16}, 0, std::string(64, 'b')).file();
  };
  const auto named = [](const std::string& name) { return GgufWriter().tensor(name, {1}, 0, "data").file(); };
  const auto two = [](const char* second, uint64_t offset) {
    return GgufWriter().tensor("a", {16}, 0, std::string(64, 'a')).entry(second, {1}, 0, offset).file();
  };
  const uint64_t half = uint64_t{1} << 32, large = uint64_t{1} << 62;
  return {
      {"ok_types", gguf_of_all_types(), "", ""},
      {"ok_name64", named(std::string(64, 'n')), "", ""},
      {"overlap_end", two("b", 32), "tensor 'b'", "overlaps tensor 'a', which ends at 64"},
      {"name65", named(std::string(65, 'n')), "tensor 'nnn", "longer than 64 bytes"},
      {"name_control", GgufWriter().entry("\x1B[2J", {1}, 99, 0).file(), "tensor '\\x1B[2J'",
       "unknown tensor type"},
      {"dims5", entry({1, 1, 1, 1, 1}, 0, 0), "tensor 'a'", "5 dims, at most 4"},
      {"dim_negative", entry({UINT64_MAX}, 0, 0), "tensor 'a'", "dim 18446744073709551615 is too large"},
      {"dims_overflow", entry({half, half}, 0, 0), "tensor 'a'", "larger than any file"},
      {"dims_overflow_0", entry({large, large, 0}, 0, 0), "tensor 'a'", "larger than any file"},
      {"bytes_overflow", entry({large}, 0, 0), "tensor 'a'", "larger than any file"},
      {"type_removed", entry({32}, 4, 0), "tensor 'a'", "unknown tensor type 4"},
      {"type_unknown", entry({32}, 4000000000, 0), "tensor 'a'", "unknown tensor type 4000000000"},
      {"half_block", entry({48}, 8, 0), "tensor 'a'",
       "rows of 48 elements, but Q8_0 holds them in blocks of 32"},
      {"scalar_block", entry({}, 12, 0), "tensor 'a'", "rows of 1 elements, but Q4_K"},
      {"row_not_blocks", entry({16, 2}, 2, 0), "tensor 'a'", "rows of 16 elements"},
      {"misaligned", entry({1}, 0, 4), "tensor 'a'", "offset 4 is no multiple of the alignment 32"},
      {"past_end", entry({16}, 0, 64), "tensor 'a'", "ends at byte 128 of the data, but the file holds 64"},
      {"offset_huge", entry({16}, 0, UINT64_MAX - 31), "tensor 'a'", "more than any file holds"},
      {"empty_past_end", entry({0}, 0, 96), "tensor 'a'", "ends at byte 96"},
      {"overlap", entry({9}, 0, 32), "tensor 'a'", "overlaps tensor 'b'"},
      {"same_place", entry({16}, 0, 0), "tensor '", "overlaps tensor '"},
      {"name_twice", two("a", 64) + "data", "tensor 'a'", "occurs twice"},
      {"no_data", GgufWriter().entry("a", {1}, 0, 0).file(), "tensor 'a'", "the file holds 0"},
  };
}

inline std::vector<DamagedGguf> damaged_ggufs() {
  std::vector<DamagedGguf> all = damaged_metadata();
  for (DamagedGguf& damaged : damaged_tensors()) all.push_back(std::move(damaged));
  return all;
}

}  // namespace onceover
