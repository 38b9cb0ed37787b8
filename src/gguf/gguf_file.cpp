#include "gguf/gguf_file.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/printable.h"
#include "base/sniff.h"
#include "gguf/gguf_cursor.h"

namespace onceover {
namespace {

constexpr std::string_view magic = "GGUF";
constexpr size_t max_key_bytes = 65535;
constexpr size_t min_metadata_bytes = 14;  // a key of one character, the type, a value of one byte
constexpr uint64_t default_alignment = 32;
constexpr const char* alignment_key = "general.alignment";

uint32_t read_version(GgufCursor& cursor) {
  const auto version = cursor.number<uint32_t>();
  if (version == 2 || version == 3) return version;
  if (version != 0 && (version & 0xFFFF) == 0) {
    cursor.refuse("byte-swapped (big-endian) file, expected a little-endian one");
  }
  cursor.refuse("version {}, expected 2 or 3", version);
}

// Keys of lower_snake_case are the rule, but files in use break it.
void require_key(std::string_view key, const GgufCursor& cursor) {
  if (key.empty()) cursor.refuse("a key is empty");
  if (key.size() > max_key_bytes) cursor.refuse("longer than {} bytes", max_key_bytes);
  const auto is_ascii = [](char c) { return c >= 0x20 && c < 0x7F; };
  if (!std::all_of(key.begin(), key.end(), is_ascii)) cursor.refuse("is not ASCII");
}

std::map<std::string_view, GgufValue> read_metadata(GgufCursor& cursor, uint64_t count) {
  std::map<std::string_view, GgufValue> metadata;
  for (uint64_t i = 0; i < count; i++) {
    cursor.set_subject(fmt::format("metadata value {}", i));
    const std::string_view key = cursor.string();
    cursor.set_subject(fmt::format("key '{}'", printable(key)));
    require_key(key, cursor);
    const GgufValue value = cursor.value(cursor.value_type());
    if (!metadata.emplace(key, value).second) cursor.refuse("occurs twice");
  }
  return metadata;
}

uint64_t read_alignment(const std::map<std::string_view, GgufValue>& metadata, GgufCursor& cursor) {
  const auto found = metadata.find(alignment_key);
  if (found == metadata.end()) return default_alignment;
  cursor.set_subject(fmt::format("key '{}'", alignment_key));
  const auto* alignment = std::get_if<uint32_t>(&found->second);
  if (alignment == nullptr)
    cursor.refuse("expected a u32, found {}", gguf_type_name(gguf_type(found->second)));
  if (!std::has_single_bit(*alignment) || *alignment % 8 != 0) {
    cursor.refuse("expected a power of two of at least 8, found {}", *alignment);
  }
  return *alignment;
}

}  // namespace

bool has_gguf_magic(std::span<const std::byte> file) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

GgufContents parse_gguf(std::span<const std::byte> file, const std::string& where) {
  if (!has_gguf_magic(file))
    throw Error("{}: not a GGUF file: this looks like {}", where, describe_file(file));
  GgufCursor cursor(file, where);
  cursor.set_subject("header");
  cursor.take(magic.size());
  GgufContents contents{read_version(cursor), 0, {}, {}};
  const auto tensor_count = cursor.number<uint64_t>(), metadata_count = cursor.number<uint64_t>();
  cursor.require_room(metadata_count, min_metadata_bytes, "metadata values");
  cursor.require_room(tensor_count, min_tensor_entry_bytes, "tensors");
  contents.metadata = read_metadata(cursor, metadata_count);
  contents.alignment = read_alignment(contents.metadata, cursor);
  cursor.set_subject("header");
  cursor.require_room(tensor_count, min_tensor_entry_bytes, "tensors");
  contents.tensors = read_tensors(cursor, file, tensor_count, contents.alignment);
  return contents;
}

GgufFile::GgufFile(const std::filesystem::path& path)
    : file_(path), contents_(parse_gguf(file_.bytes(), path.string())) {}

}  // namespace onceover
