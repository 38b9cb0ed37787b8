// GGUF: metadata and tensors in one file, read without copying and without trust.
//
// Layout, little-endian: "GGUF"; u32 version; u64 number of tensors; u64 number of metadata values; the
// metadata, each a key (string), u32 type and value; an entry for each tensor (gguf_tensor.h); padding to a
// multiple of general.alignment (32 unless given); the data. Versions 2 and 3 differ in nothing else.
// Source: github.com/ggml-org/ggml, docs/gguf.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "gguf/gguf_tensor.h"
#include "gguf/gguf_value.h"

namespace onceover {

// Everything is a view into the bytes that were parsed.
struct GgufContents {
  uint32_t version;
  uint64_t alignment;
  std::map<std::string_view, GgufValue> metadata;
  GgufTensors tensors;
};

// Whether a file begins as a GGUF file does.
bool has_gguf_magic(std::span<const std::byte> file);

// Reads a whole file that is already in memory. Error (naming `where`, the key or tensor, and the reason)
// unless: version 2 or 3 in little-endian order; every count and length within the file; keys unique, ASCII,
// 1 to 65535 bytes; known types; bools of 0 or 1; arrays in arrays at most 8 deep; an alignment that is a
// u32, a power of two and a multiple of 8; the checks of gguf_tensor.h. Memory is bounded by a small multiple
// of the header.
GgufContents parse_gguf(std::span<const std::byte> file, const std::string& where);

// An open file. The views live as long as this object. Move-only; concurrent reads are safe.
class GgufFile {
 public:
  explicit GgufFile(const std::filesystem::path& path);

  const GgufContents& contents() const { return contents_; }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  MappedFile file_;
  GgufContents contents_;
};

}  // namespace onceover
