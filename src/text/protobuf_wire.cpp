#include "text/protobuf_wire.h"

#include <bit>

#include "base/error.h"

namespace onceover {
namespace {

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; i--) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

void require_kind(const WireField& field, WireField::Kind kind, const std::string& where) {
  if (field.kind == kind) return;
  throw Error("{}: protobuf field {} has wire kind {}, expected {}", where, field.number,
              static_cast<int>(field.kind), static_cast<int>(kind));
}

}  // namespace

uint64_t WireField::as_varint(const std::string& where) const {
  require_kind(*this, Varint, where);
  return value;
}

float WireField::as_float(const std::string& where) const {
  require_kind(*this, Fixed32, where);
  return std::bit_cast<float>(static_cast<uint32_t>(value));
}

std::string_view WireField::as_bytes(const std::string& where) const {
  require_kind(*this, Bytes, where);
  return bytes;
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Error("{}: not a protobuf message: a varint is longer than 10 bytes", where_);
}

std::string_view WireReader::take(uint64_t bytes) {
  if (bytes > rest_.size()) {
    throw Error("{}: not a protobuf message: a field of {} bytes, but only {} are left", where_, bytes,
                rest_.size());
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const uint64_t key = varint();
  const auto kind = static_cast<int>(key & 7);
  if (key >> 3 == 0 || key >> 3 > 0x1FFFFFFF)
    throw Error("{}: not a protobuf message: field {}", where_, key >> 3);
  field = {static_cast<uint32_t>(key >> 3), static_cast<WireField::Kind>(kind), 0, {}};
  switch (kind) {
    case WireField::Varint:
      field.value = varint();
      return true;
    case WireField::Fixed64:
      field.value = little_endian(take(8));
      return true;
    case WireField::Bytes:
      field.bytes = take(varint());
      return true;
    case WireField::Fixed32:
      field.value = little_endian(take(4));
      return true;
    default:
      throw Error("{}: not a protobuf message: field {} has wire kind {}", where_, field.number, kind);
  }
}

void WireWriter::raw_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
  message_ += static_cast<char>(value);
}

void WireWriter::varint(uint32_t number, uint64_t value) {
  raw_varint(number << 3 | WireField::Varint);
  raw_varint(value);
}

void WireWriter::float32(uint32_t number, float value) {
  raw_varint(number << 3 | WireField::Fixed32);
  for (auto bits = std::bit_cast<uint32_t>(value), i = 0u; i < 4; i++, bits >>= 8)
    message_ += static_cast<char>(bits);
}

void WireWriter::bytes(uint32_t number, std::string_view value) {
  raw_varint(number << 3 | WireField::Bytes);
  raw_varint(value.size());
  message_ += value;
}

}  // namespace onceover
