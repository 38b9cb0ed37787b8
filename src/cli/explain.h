// What `onceover explain` knows about a model: counted once, then shown as text or JSON. Sizes in bytes, work
// in FLOPs (a multiply-add is 2). No weights are allocated.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost.h"
#include "architectures/config.h"
#include "cli/quantity.h"

namespace onceover {

struct ExplainOptions {
  std::string model;
  int loops = 0;                       // 0 = the config's
  std::optional<std::string> context;  // absent = max_position_embeddings
  std::vector<std::string> contexts = {"8K", "16K", "32K", "64K", "128K", "256K"};
  std::string dtype = "bf16", kv_dtype = "bf16";
  bool slots = false, plan = false, json = false, list = false;
  std::string table, format = "text";
  std::vector<std::string> architectures;
};

// Equal slots, counted. A key slot and a value slot of one attention are one entry of two widths.
struct SlotGroup {
  Retention keep;
  std::vector<int64_t> widths;  // of k and v; of the matrix
  int64_t count;
};

// Neighbouring layer applications that run the same rows, or steps outside the layers.
struct RowGroup {
  std::string what;
  int64_t applications;    // of layers; 0 outside them
  bool every, last, none;  // whether it has steps of every row, of rows with logits, and steps that never run
};

struct Memory {
  int64_t tokens;
  double bytes;
};

struct Explanation {
  std::string name;
  Config config;
  std::string summary;
  int loops;
  Plan plan;
  Analysis analysis;
  ParameterCount parameters;
  int64_t layer_applications;
  int64_t context;
  double training_flops_per_token;
  Cost prefill, decode;  // of `context` tokens, logits of the last; of the last token alone
  Storage weight_storage, kv_storage;
  double weight_bytes;
  std::vector<SlotGroup> slot_groups;
  std::vector<RowGroup> row_groups;
  std::vector<Memory> memory;  // of one sequence
  double kv_bytes_per_token;   // growth once every ring is full
};

// Error for an unknown model, type or size.
Explanation explain_model(const ExplainOptions& options);

// What state of `tokens` tokens weighs; retention matrices stay f32.
double state_bytes(const Analysis& analysis, int64_t tokens, const Storage& storage);

std::string explanation_text(const Explanation& e, bool slots, bool plan);
nlohmann::ordered_json explanation_json(const Explanation& e, bool plan);

// "every row", "512 rows", "one matrix".
std::string retention_name(const Retention& keep);

// By slot: "keys of model.layers.3.self_attn, loop 1".
std::vector<std::string> slot_origins(const Plan& plan, const Analysis& analysis);

}  // namespace onceover
