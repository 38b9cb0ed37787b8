// A model, recorded: the list of steps that an architecture function emitted through a Builder.
//
// Everything else reads this: analysis, the oracle, the executors. A plan holds no numbers of the weights,
// only their specifications, so a plan of any size costs kilobytes. Plans are immutable once built and safe
// to share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/op.h"
#include "plan/weight_spec.h"

namespace onceover {

using ScopeId = int32_t;  // index into Plan::scopes

struct Step {
  Op op;
  int width;      // columns of the value this step makes
  ScopeId scope;  // where in the model: "model.layers.3.self_attn"
  int loop;       // iteration of the loop the step belongs to, from 0; 0 outside loops
};

struct Plan {
  std::vector<WeightSpec> weights;
  std::vector<std::string> scopes;
  std::vector<Step> steps;
  ValueId logits = -1;

  // Identifies meaning: equal plans (steps, settings, weight names and shapes) have equal fingerprints, on
  // every machine.
  uint64_t fingerprint() const;

  // One line a step, one line a weight: what the golden plans hold and `explain --plan` prints.
  std::string text() const;
};

// Error unless the plan can run rows 0 to end - 1: tables of learned positions have only so many.
void require_positions(const Plan& plan, int64_t end);

// The layer number in a scope ("model.layers.12.mlp" -> 12), or -1.
int layer_of(const std::string& scope);

// Where a value is made, for messages: "model.layers.3.mlp (linear), loop 1".
std::string place_of(const Plan& plan, ValueId value);

}  // namespace onceover
