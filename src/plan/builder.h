// Records a plan. Architectures are functions that call this and nothing else.
//
// Weights are named; naming one twice is weight sharing (the shapes must agree). Scopes prefix names the
// Hugging Face way:
//   auto layer = b.scope("layers.3");  b.linear(x, "q_proj", ...)  ->  "model.layers.3.q_proj.weight"
// Misuse (a width that does not fit, a weight re-declared with another shape) is a mistake in an architecture
// function: std::logic_error. Not thread-safe; one builder builds one plan.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace onceover {

// A pair of values that attention reads.
struct Kv {
  ValueId k = -1, v = -1;
};

// Where rows and columns of a linear weight live, and how it starts.
struct LinearSpec {
  int out;
  const char* out_space;
  const char* in_space;
  Init init;
  int shard_axis = 0;
  bool bias = false;
};

class Builder {
 public:
  // Restores the enclosing scope when it goes.
  class Scope {
   public:
    Scope(Builder& builder, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    std::string outer_;
  };
  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }
  void loop(int iteration) { loop_ = iteration; }

  // Declares a weight under the current scope, or finds the one already declared under that name.
  WeightId weight(WeightSpec spec);

  ValueId embed(std::string_view name, int64_t vocab, int width, Init init, float scale = 1);
  ValueId embed_rows(std::string_view name, int64_t positions, int width, Init init);  // learned positions
  ValueId norm(ValueId x, std::string_view name, float eps);
  ValueId layer_norm(ValueId x, std::string_view name, float eps);                   // with bias
  ValueId head_norm(ValueId x, int heads, float eps);                                // per head, no weight
  ValueId shared_head_norm(ValueId x, int heads, std::string_view name, float eps);  // per head, one weight
  ValueId linear(ValueId x, std::string_view name, const LinearSpec& spec);
  ValueId rope(ValueId x, int heads, const RopeAngles& angles);
  ValueId attend(ValueId q, Kv kv, int heads, int kv_heads, Mask mask);
  ValueId retain(ValueId q, Kv kv, ValueId decay, int heads, float temperature);
  ValueId swiglu(ValueId gate, ValueId up);
  ValueId activate(ValueId x, Activation function);
  ValueId experts(ValueId x, int64_t count, int64_t ffn, int active, bool normalise, float balance, Init in,
                  Init out);
  ValueId add(ValueId a, ValueId b);
  ValueId mix(ValueId a, ValueId b, std::string_view name, float scale);
  // The output head over weight `table` (a full name, e.g. the embedding's) if declared, else a new weight of
  // that name.
  void logits(ValueId x, std::string_view full_name, int64_t vocab, Init init);

  int width(ValueId x) const;
  // Forgets the steps and keeps the weights with their ids: for recording the same model at another depth.
  void restart();
  Plan finish();

 private:
  ValueId emit(Op op, int width);
  WeightId norm_weight(std::string_view name, int width, double start);
  std::string full_name(std::string_view name) const;

  Plan plan_;
  std::string scope_ = "model";
  int loop_ = 0;
  std::map<std::string, WeightId> weight_ids_;
  std::map<std::string, ScopeId> scope_ids_;
};

}  // namespace onceover
