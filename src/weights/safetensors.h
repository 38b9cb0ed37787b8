// safetensors: named tensors in one file, read without copying and without trust.
//
// Layout: 8 bytes little-endian N; N bytes of JSON header, padded with spaces; then the data of all tensors,
// end to end. Source: github.com/huggingface/safetensors, README, "Format".
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "weights/tensor.h"

namespace onceover {

struct SafetensorsContents {
  TensorMap tensors;  // views into the bytes that were parsed
  std::map<std::string, std::string> metadata;
};

// Reads a whole file that is already in memory. Error (naming `where`, the tensor and the reason) unless
// every check of safetensors_header.h holds; the length of the header is checked against 100 MB and the file
// before it is looked at.
SafetensorsContents parse_safetensors(std::span<const std::byte> file, const std::string& where);

// An open file. The views live as long as this object. Move-only; concurrent reads are safe.
class Safetensors {
 public:
  explicit Safetensors(const std::filesystem::path& path);

  const TensorMap& tensors() const { return contents_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  MappedFile file_;
  SafetensorsContents contents_;
};

// Writes atomically (base/atomic_file.h). The same tensors and metadata give the same bytes: tensors lie by
// falling element size, then by name, and the data begins at a multiple of 64 bytes, so each element is
// aligned in the file. Data goes straight from the views to the file. Error when the file cannot be written
// or a name is "__metadata__".
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace onceover
