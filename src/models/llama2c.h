// The .bin files of llama2.c (github.com/karpathy/llama2.c), in the first of their formats.
//
// Seven little-endian i32: dim, hidden_dim, layers, heads, kv_heads, vocabulary (negative: the head is not
// the embedding table), length. Then f32, all layers of a kind together: embedding [vocabulary, dim],
// attention norm [dim], q [dim, dim], k and v [kv, dim], o [dim, dim], feed-forward norm [dim], gate
// [hidden_dim, dim], down [dim, hidden_dim], up [hidden_dim, dim], final norm [dim], two unused tables
// [length, head_dim / 2], and the head [vocabulary, dim] unless it is the table. Rotary pairs lie side by
// side. Nothing marks the format but that the file has exactly this size.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "architectures/config.h"
#include "models/stored_weight.h"

namespace onceover {

struct Llama2c {
  Config config;
  StoredWeights weights;  // views into the bytes that were parsed
};

// Whether the file has the size that its first numbers ask for.
bool starts_as_llama2c(const std::filesystem::path& path);

// Error naming `where` unless the sizes are positive, fit together and the bytes are exactly as many as they
// ask for.
Llama2c parse_llama2c(std::span<const std::byte> file, const std::string& where);

}  // namespace onceover
