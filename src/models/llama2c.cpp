#include "models/llama2c.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/sniff.h"

namespace onceover {
namespace {

constexpr size_t header_bytes = 7 * sizeof(int32_t);

struct Sizes {
  int64_t dim, hidden, layers, heads, kv_heads, vocab, length;
  bool tied;

  int64_t kv_dim() const { return dim / heads * kv_heads; }
  int64_t head_dim() const { return dim / heads; }
};

// Nothing unless all are positive, below 2^24 (so that no product below overflows) and heads divide the
// width.
std::optional<Sizes> read_sizes(std::span<const std::byte> file) {
  if (file.size() < header_bytes) return std::nullopt;
  std::array<int32_t, 7> h;
  std::memcpy(h.data(), file.data(), header_bytes);
  const Sizes s{h[0], h[1], h[2], h[3], h[4], std::abs(static_cast<int64_t>(h[5])), h[6], h[5] > 0};
  constexpr int64_t most = 1 << 24, most_layers = 1 << 10;
  for (const int64_t size : {s.dim, s.hidden, s.heads, s.kv_heads, s.vocab, s.length}) {
    if (size <= 0 || size > most) return std::nullopt;
  }
  if (s.layers <= 0 || s.layers > most_layers || s.dim % (2 * s.heads) != 0 || s.heads % s.kv_heads != 0)
    return std::nullopt;
  return s;
}

// One kind of weight: `count` of them, one for each layer where the name has {}; "" for numbers that are not
// used.
struct Kind {
  std::string name;
  std::vector<int64_t> shape;
  int64_t pairs_of = 0;

  bool per_layer() const { return name.find("{}") != std::string::npos; }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};

std::vector<Kind> kinds(const Sizes& s) {
  const std::string layer = "model.layers.{}.";
  std::vector<Kind> all = {{"model.embed_tokens.weight", {s.vocab, s.dim}},
                           {layer + "input_layernorm.weight", {s.dim}},
                           {layer + "self_attn.q_proj.weight", {s.dim, s.dim}, s.head_dim()},
                           {layer + "self_attn.k_proj.weight", {s.kv_dim(), s.dim}, s.head_dim()},
                           {layer + "self_attn.v_proj.weight", {s.kv_dim(), s.dim}},
                           {layer + "self_attn.o_proj.weight", {s.dim, s.dim}},
                           {layer + "post_attention_layernorm.weight", {s.dim}},
                           {layer + "mlp.gate_proj.weight", {s.hidden, s.dim}},
                           {layer + "mlp.down_proj.weight", {s.dim, s.hidden}},
                           {layer + "mlp.up_proj.weight", {s.hidden, s.dim}},
                           {"model.norm.weight", {s.dim}},
                           {"", {s.length, s.head_dim()}}};  // cosines, then sines
  if (!s.tied) all.push_back({"lm_head.weight", {s.vocab, s.dim}});
  return all;
}

// 2^24 * 2^24 * 2^10 floats at most of a kind: it fits an int64_t.
uint64_t file_bytes(const Sizes& s) {
  uint64_t floats = 0;
  for (const Kind& kind : kinds(s))
    floats += static_cast<uint64_t>(kind.elements() * (kind.per_layer() ? s.layers : 1));
  return header_bytes + floats * sizeof(float);
}

Config config_of(const Sizes& s, const std::string& where) {
  // Those of the tokeniser that llama2.c always uses; its texts are parted by bos, and end there.
  return config_from_json({{"architecture", "transformer"},
                           {"hidden_size", s.dim},
                           {"intermediate_size", s.hidden},
                           {"num_hidden_layers", s.layers},
                           {"num_attention_heads", s.heads},
                           {"num_key_value_heads", s.kv_heads},
                           {"vocab_size", s.vocab},
                           {"max_position_embeddings", s.length},
                           {"rms_norm_eps", 1e-5},
                           {"tie_word_embeddings", s.tied},
                           {"bos_token_id", s.vocab > 2 ? nlohmann::json(1) : nlohmann::json()},
                           {"eos_token_id", s.vocab > 2 ? nlohmann::json{2, 1} : nlohmann::json()}},
                          where);
}

}  // namespace

bool starts_as_llama2c(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const MappedFile file(path);
  const auto sizes = read_sizes(file.bytes());
  return sizes && file_bytes(*sizes) == file.size();
}

Llama2c parse_llama2c(std::span<const std::byte> file, const std::string& where) {
  const auto sizes = read_sizes(file);
  if (!sizes || file_bytes(*sizes) != file.size()) {
    throw Error(
        "{}: expected a checkpoint folder, a GGUF file or llama2.c's .bin (of its first format), found {}",
        where, describe_file(file));
  }
  Llama2c result{config_of(*sizes, where), {}};
  std::span<const std::byte> rest = file.subspan(header_bytes);
  for (const Kind& kind : kinds(*sizes)) {
    const size_t bytes = static_cast<size_t>(kind.elements()) * sizeof(float);
    for (int64_t l = 0; l < (kind.per_layer() ? sizes->layers : 1); l++) {
      const TensorView view{DType::F32, kind.shape, rest.first(bytes)};
      rest = rest.subspan(bytes);
      if (kind.name.empty()) continue;
      result.weights[fmt::format(fmt::runtime(kind.name), l)] = {view, {.pairs_of = kind.pairs_of}};
    }
  }
  return result;
}

}  // namespace onceover
