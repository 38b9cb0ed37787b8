#include "gguf/gguf_cursor.h"

#include <algorithm>
#include <array>

namespace onceover {
namespace {

constexpr int max_depth = 8;  // of arrays in arrays

struct Kind {
  std::string_view name;
  size_t min_bytes;  // of one value: all of them but for strings and arrays
};

// In the order of GgufType.
constexpr std::array kinds{Kind{"u8", 1},     Kind{"i8", 1},     Kind{"u16", 2}, Kind{"i16", 2},
                           Kind{"u32", 4},    Kind{"i32", 4},    Kind{"f32", 4}, Kind{"bool", 1},
                           Kind{"string", 8}, Kind{"array", 12}, Kind{"u64", 8}, Kind{"i64", 8},
                           Kind{"f64", 8}};
static_assert(kinds.size() == std::variant_size_v<GgufValue>);

const Kind& kind_of(GgufType type) { return kinds.at(static_cast<size_t>(type)); }

}  // namespace

std::string_view gguf_type_name(GgufType type) { return kind_of(type).name; }

GgufType GgufCursor::value_type() {
  const auto type = number<uint32_t>();
  if (type >= kinds.size()) refuse("unknown type {} of a value", type);
  return static_cast<GgufType>(type);
}

GgufValue GgufCursor::value(GgufType type) {
  switch (type) {
    case GgufType::U8:
      return number<uint8_t>();
    case GgufType::I8:
      return number<int8_t>();
    case GgufType::U16:
      return number<uint16_t>();
    case GgufType::I16:
      return number<int16_t>();
    case GgufType::U32:
      return number<uint32_t>();
    case GgufType::I32:
      return number<int32_t>();
    case GgufType::F32:
      return number<float>();
    case GgufType::Bool:
      return boolean();
    case GgufType::String:
      return string();
    case GgufType::Array:
      return array(1);
    case GgufType::U64:
      return number<uint64_t>();
    case GgufType::I64:
      return number<int64_t>();
    case GgufType::F64:
      return number<double>();
  }
  refuse("unknown type {} of a value", static_cast<uint32_t>(type));
}

bool GgufCursor::boolean() {
  const auto byte = number<uint8_t>();
  if (byte > 1) refuse("expected 0 or 1 as a bool, found {}", byte);
  return byte == 1;
}

GgufArray GgufCursor::array(int depth) {
  if (depth > max_depth) refuse("arrays in arrays more than {} deep", max_depth);
  const GgufType type = value_type();
  const auto count = number<uint64_t>();
  require_room(count, kind_of(type).min_bytes, "elements");
  const size_t begin = position_;
  skip_elements(type, count, depth);
  return {type, count, file_.subspan(begin, position_ - begin)};
}

void GgufCursor::skip_elements(GgufType type, uint64_t count, int depth) {
  switch (type) {
    case GgufType::String:
      for (uint64_t i = 0; i < count; i++) string();
      return;
    case GgufType::Array:
      for (uint64_t i = 0; i < count; i++) array(depth + 1);
      return;
    case GgufType::Bool:
      for (uint64_t i = 0; i < count; i++) boolean();
      return;
    default:
      take(count * kind_of(type).min_bytes);
  }
}

std::vector<GgufValue> elements(const GgufArray& array, uint64_t limit) {
  std::vector<GgufValue> values(std::min(array.count, limit));
  GgufCursor cursor(array.bytes, "array");
  for (GgufValue& value : values) value = cursor.value(array.type);
  return values;
}

}  // namespace onceover
