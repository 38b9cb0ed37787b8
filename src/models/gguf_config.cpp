#include "models/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "gguf/dequantise.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

struct Family {
  const char* name;
  Json settings;  // in our keys
  bool pairs_together = false;
};

const std::vector<Family>& families() {
  static const Json gpt = {{"norm", "layer"}, {"attention_bias", true}, {"mlp_bias", true}};
  const auto gpt_with = [](Json more) {
    more.update(gpt);
    return more;
  };
  static const std::vector<Family> table = {
      {"llama", Json::object(), true},
      {"qwen2", Json::object()},
      {"qwen3", Json::object()},
      {"gptneox", gpt_with({{"feed_forward", "gelu"}, {"use_parallel_residual", true}})},
      {"gpt2", gpt_with({{"feed_forward", "gelu-tanh"}, {"self_position_embedding", "learned"}})}};
  return table;
}

const Family& find_family(const GgufContents& contents, const std::string& where) {
  const auto found = contents.metadata.find("general.architecture");
  const auto* name =
      found == contents.metadata.end() ? nullptr : std::get_if<std::string_view>(&found->second);
  if (name == nullptr) throw Error("{}: has no text under 'general.architecture'", where);
  std::vector<std::string> names;
  for (const Family& family : families()) {
    if (*name == family.name) return family;
    names.emplace_back(family.name);
  }
  throw Error("{}: general.architecture '{}' is not supported (supported: {})", where, printable(*name),
              fmt::join(names, ", "));
}

// Under "ARCHITECTURE.".
const std::pair<const char*, const char*> renamed[] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "rms_norm_eps"},
    {"rope.freq_base", "rope_theta"},
    {"use_parallel_residual", "use_parallel_residual"},
};

const std::set<std::string> needed = {"context_length", "embedding_length", "block_count",
                                      "feed_forward_length", "attention.head_count"};

// Read below, or idle.
const std::set<std::string> other_keys = {"vocab_size",
                                          "attention.value_length",
                                          "expert_count",
                                          "expert_used_count",
                                          "rope.dimension_count",
                                          "rope.scale_linear",
                                          "rope.scaling.type",
                                          "rope.scaling.factor",
                                          "rope.scaling.attn_factor",
                                          "rope.scaling.original_context_length",
                                          "rope.scaling.finetuned",
                                          "rope.scaling.yarn_beta_fast",
                                          "rope.scaling.yarn_beta_slow",
                                          "tensor_data_layout"};

Json json_of(const GgufValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, GgufArray>) {
          return Json::array();
        } else if constexpr (std::is_same_v<Held, std::string_view>) {
          return std::string(held);
        } else if constexpr (std::is_same_v<Held, float>) {
          // The number that was meant: 1e-5, not the f32 nearest to it in sixteen digits.
          return std::strtod(fmt::format("{}", held).c_str(), nullptr);
        } else {
          return held;
        }
      },
      value);
}

class Metadata {
 public:
  Metadata(const GgufContents& contents, std::string prefix, std::string where)
      : contents_(contents), prefix_(std::move(prefix)), where_(std::move(where)) {}

  Json get(const std::string& key) const { return at(prefix_ + key); }
  Json at(const std::string& key) const {
    const auto found = contents_.metadata.find(key);
    return found == contents_.metadata.end() ? Json() : json_of(found->second);
  }

  // A finite number, or `otherwise`.
  double number(const std::string& key, double otherwise) const {
    const Json value = get(key);
    if (value.is_null()) return otherwise;
    if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, "a number", value);
    return value.get<double>();
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& expected, const Json& found) const {
    throw Error("{}: key '{}{}' must be {}, found {}", where_, prefix_, key, expected,
                printable(found.dump(-1, ' ', true, Json::error_handler_t::replace), 60));
  }

  void refuse_unknown() const {
    for (const auto& [key, value] : contents_.metadata) {
      if (!key.starts_with(prefix_)) continue;
      const std::string name(key.substr(prefix_.size()));
      const bool known = other_keys.contains(name) ||
                         std::ranges::any_of(renamed, [&](const auto& pair) { return name == pair.first; });
      if (!known)
        throw Error("{}: key '{}' is not supported: it may change what the model computes", where_,
                    printable(key));
    }
  }

  const GgufContents& contents() const { return contents_; }
  const std::string& where() const { return where_; }

 private:
  const GgufContents& contents_;
  std::string prefix_, where_;
};

const GgufTensor* find_tensor(const GgufContents& contents, std::string_view name) {
  const auto found = contents.tensors.find(name);
  return found == contents.tensors.end() ? nullptr : &found->second;
}

Json scaling_of(const Metadata& data, const Json& config) {
  const Json type = data.get("rope.scaling.type");
  const double linear = data.number("rope.scale_linear", 1);
  const double factor = data.number("rope.scaling.factor", linear);
  if (type == "linear" || (type.is_null() && linear != 1))
    return {{"rope_type", "linear"}, {"factor", factor}};
  if (type.is_null() || type == "none") return nullptr;
  if (type != "yarn") data.refuse("rope.scaling.type", "one of \"none\", \"linear\", \"yarn\"", type);
  const Json original = data.get("rope.scaling.original_context_length");
  return {
      {"rope_type", "yarn"},
      {"factor", factor},
      {"original_max_position_embeddings", original.is_null() ? config["max_position_embeddings"] : original},
      {"beta_fast", data.number("rope.scaling.yarn_beta_fast", 32)},
      {"beta_slow", data.number("rope.scaling.yarn_beta_slow", 1)},
      {"attention_factor", data.number("rope.scaling.attn_factor", 1) * yarn_magnitude(factor)}};
}

// rope_freqs.weight holds what each frequency is divided by. Llama 3 is the one model that writes it: its
// factors follow from the largest of them, so they are recognised and not kept.
Json llama3_of(const GgufTensor& tensor, const Config& plain, const std::string& where) {
  std::vector<float> divisors(static_cast<size_t>(plain.head_dim / 2));
  if (tensor.shape() != std::vector<int64_t>{plain.head_dim / 2} || !can_dequantise(tensor.type))
    throw Error("{}: tensor 'rope_freqs.weight' must hold {} numbers, found {} {}", where, plain.head_dim / 2,
                ggml_type_name(tensor.type), shape_text(tensor.shape()));
  dequantise(tensor.type, tensor.bytes, divisors);
  RopeAngles usual = rope_angles(plain, plain.head_dim), scaled = usual;
  scaled.scaling = {.kind = RopeScaling::Kind::Llama3,
                    .factor = static_cast<double>(*std::ranges::max_element(divisors)),
                    .original_length = 8192};
  const auto expected = rope_frequencies(scaled, plain.head_dim),
             base = rope_frequencies(usual, plain.head_dim);
  for (size_t j = 0; j < divisors.size(); j++) {
    const double found = base[j] / static_cast<double>(divisors[j]);
    if (!(std::abs(found - expected[j]) <= 1e-4 * expected[j]))
      throw Error("{}: tensor 'rope_freqs.weight' scales the rotary angles in a way that is not supported",
                  where);
  }
  return {{"rope_type", "llama3"},
          {"factor", scaled.scaling.factor},
          {"low_freq_factor", scaled.scaling.low_freq_factor},
          {"high_freq_factor", scaled.scaling.high_freq_factor},
          {"original_max_position_embeddings", scaled.scaling.original_length}};
}

void read_tokens(const Metadata& data, Json& config) {
  const Json bos = data.at("tokenizer.ggml.bos_token_id"), pad = data.at("tokenizer.ggml.padding_token_id");
  if (!bos.is_null()) config["bos_token_id"] = bos;
  if (!pad.is_null()) config["pad_token_id"] = pad;
  Json ends = Json::array();
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    const Json id = data.at(key);
    if (!id.is_null() && std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  }
  if (!ends.empty()) config["eos_token_id"] = std::move(ends);
}

// What the tensors say: the vocabulary, biases, norms of heads.
void read_tensors_there(const GgufContents& contents, Json& config, const std::string& where) {
  const GgufTensor* table = find_tensor(contents, "token_embd.weight");
  if (table == nullptr || table->dims.size() != 2)
    throw Error("{}: tensor 'token_embd.weight' is missing or no matrix: the file holds no model", where);
  config["vocab_size"] = table->rows();
  const auto there = [&](const char* name) { return find_tensor(contents, name) != nullptr; };
  if (there("blk.0.attn_q.bias"))
    config[there("blk.0.attn_output.bias") ? "attention_bias" : "qkv_bias"] = true;
  if (there("blk.0.ffn_up.bias")) config["mlp_bias"] = true;
  if (there("blk.0.attn_q_norm.weight")) config["qk_norm"] = true;
}

void read_heads(const Metadata& data, Json& config) {
  const Json width = data.get("attention.value_length");
  if (!width.is_null() && config.contains("head_dim") && width != config["head_dim"])
    data.refuse("attention.value_length", "attention.key_length", width);
  if (data.number("expert_count", 0) != 0)
    data.refuse("expert_count", "0 (routed experts are not supported)", data.get("expert_count"));
}

void read_turned_dims(const Metadata& data, Json& config, int head_dim) {
  const double dims = data.number("rope.dimension_count", head_dim);
  if (!(dims >= 1 && dims <= head_dim))
    data.refuse("rope.dimension_count", fmt::format("1 to {}", head_dim), data.get("rope.dimension_count"));
  config["partial_rotary_factor"] = dims / head_dim;
}

}  // namespace

bool has_rotary_pairs_together(const GgufContents& contents, const std::string& where) {
  return find_family(contents, where).pairs_together;
}

Config config_from_gguf(const GgufContents& contents, const std::string& where) {
  const Family& family = find_family(contents, where);
  const Metadata data(contents, std::string(family.name) + ".", where);
  data.refuse_unknown();
  Json config = family.settings;
  config["architecture"] = "transformer";
  for (const auto& [theirs, ours] : renamed) {
    const Json value = data.get(theirs);
    if (value.is_null() && needed.contains(theirs)) data.refuse(theirs, "there", nullptr);
    if (!value.is_null()) config[ours] = value;
  }
  if (config.contains("sliding_window") && config["sliding_window"] == 0) config.erase("sliding_window");
  read_heads(data, config);
  read_tensors_there(contents, config, where);
  read_tokens(data, config);
  config["rope_scaling"] = scaling_of(data, config);
  const Config plain = config_from_json(config, where);
  read_turned_dims(data, config, plain.head_dim);
  if (const GgufTensor* divisors = find_tensor(contents, "rope_freqs.weight"))
    config["rope_scaling"] = llama3_of(*divisors, plain, where);
  return config_from_json(config, where);
}

}  // namespace onceover
