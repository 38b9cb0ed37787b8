// The wire format of protocol buffers, reading and writing, for messages from untrusted files.
//
// A message is a row of fields: a varint key (number << 3 | kind), then a varint (kind 0), 8 bytes (1), a
// length and bytes (2), or 4 bytes (5). Groups (3, 4) are refused. Why not libprotobuf: it needs its compiler
// at build time and a .proto file that the SentencePiece package does not install, to read the five messages'
// dozen fields used here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace onceover {

struct WireField {
  uint32_t number;
  enum Kind { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 } kind;
  uint64_t value;          // of the kinds other than Bytes
  std::string_view bytes;  // of Bytes

  // The field as a C++ value; Error when its kind is another.
  uint64_t as_varint(const std::string& where) const;
  float as_float(const std::string& where) const;
  std::string_view as_bytes(const std::string& where) const;
};

class WireReader {
 public:
  // `where` names the file in errors; it must outlive the reader.
  WireReader(std::string_view message, const std::string& where) : rest_(message), where_(where) {}

  // False at the message's end. Error when the bytes are no field.
  bool next(WireField& field);

 private:
  uint64_t varint();
  std::string_view take(uint64_t bytes);

  std::string_view rest_;
  const std::string& where_;
};

class WireWriter {
 public:
  void varint(uint32_t number, uint64_t value);
  void float32(uint32_t number, float value);
  void bytes(uint32_t number, std::string_view value);
  const std::string& message() const { return message_; }

 private:
  void raw_varint(uint64_t value);
  std::string message_;
};

}  // namespace onceover
