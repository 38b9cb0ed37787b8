// What `onceover inspect` shows of a GGUF file.
#pragma once
#include <filesystem>

namespace onceover {

bool is_gguf(const std::filesystem::path& path);

// Prints metadata and tensors, long arrays as their count and first elements.
void inspect_gguf(const std::filesystem::path& path, bool json);

}  // namespace onceover
