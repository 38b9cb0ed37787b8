// Values of a GGUF file's metadata, as views into the file.
//
// Little-endian, without alignment. A string is a u64 length and so many bytes, which are not checked to be
// UTF-8 (vocabularies hold parts of characters); print them through printable(). An array is the type of its
// elements, their u64 count, and the elements. Source: github.com/ggml-org/ggml, docs/gguf.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace onceover {

// Numbers as in the file.
enum class GgufType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

// "u8", "string", …
std::string_view gguf_type_name(GgufType type);

struct GgufArray {
  GgufType type;
  uint64_t count;
  std::span<const std::byte> bytes;  // of all elements, as they lie in the file
};

// The alternatives stand in the order of GgufType, so that index() is the number of the type.
using GgufValue = std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool,
                               std::string_view, GgufArray, uint64_t, int64_t, double>;

inline GgufType gguf_type(const GgufValue& value) { return static_cast<GgufType>(value.index()); }

// The first elements of an array that was read from a file, at most `limit`; 40 bytes each, so several times
// what small ones take in the file.
std::vector<GgufValue> elements(const GgufArray& array, uint64_t limit = UINT64_MAX);

}  // namespace onceover
