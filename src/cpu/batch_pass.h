// Some rows of several sequences on their way through one plan: every op that treats rows alone sees the
// rows of all parts at once; Rope, Attend and Retain see each part at its own position.
//
// A value that every row needs has the rows of all parts, part after part. A value that only logits need has
// the rows of all parts whose logits are asked for. Where a step of the second kind reads a value of the
// first, the rows wanted are gathered into a copy: buffers may be reused in place, the copy is not.
#pragma once
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/paged_attention.h"
#include "cpu/kernels/rope.h"
#include "cpu/row_ops.h"
#include "cpu/sequence_state.h"

namespace onceover::cpu {

// The next tokens of one sequence; the last `logit_rows` of them get logits.
struct PassPart {
  SequenceState* state;
  std::span<const int32_t> tokens;
  int64_t logit_rows;
};

// Memory that passes use one after another.
struct PassMemory {
  kernels::Buffer arena;
  kernels::ExpertsTape tape;
};

class BatchPass {
 public:
  // Keeps references. All parts are states of `plan`.
  BatchPass(DepthPlan& plan, const WeightTable& weights, PassMemory& memory, std::span<const PassPart> parts);

  int64_t rows() const { return std::ssize(tokens_); }
  int64_t logit_rows() const { return std::ssize(logit_tokens_); }
  // Rows of the layers' outputs that run() makes, over all layers.
  int64_t layer_rows() const;

  // Appends the tokens to the states. logits [logit_rows(), vocabulary].
  void run(float* logits);

 private:
  // The rows of a part in values of one demand.
  struct PartRows {
    int64_t first, count;
  };

  Rows demand(ValueId v) const { return plan_.analysis.demand[v]; }
  bool only_logits(ValueId v) const { return demand(v) == Rows::Logits; }
  int64_t width(ValueId v) const { return plan_.plan.steps[v].width; }
  int64_t rows_of(ValueId v) const { return demanded_rows(demand(v), rows(), logit_rows()); }
  PartRows part_rows(size_t part, ValueId v) const;

  kernels::Output buffer(int id, int64_t width) const;
  // Input `i` of a step: value v with the rows that the step makes.
  kernels::Input read(ValueId step, int i, ValueId v);
  kernels::Input gather(ValueId v, kernels::Input from);

  void run_step(ValueId step, float* logits);
  RowWork row_work(ValueId step);  // without the output
  void rope(ValueId step, const Rope& op);
  void attend(ValueId step, const Attend& op);
  void retain(ValueId step, const Retain& op);
  void retain_part(size_t part, ValueId step, const Retain& op);
  void store(ValueId step);

  DepthPlan& plan_;
  const WeightTable& weights_;
  PassMemory& memory_;
  std::span<const PassPart> parts_;
  std::vector<int32_t> tokens_, logit_tokens_;
  std::vector<int64_t> positions_, logit_positions_;
  std::vector<PartRows> all_, asked_;  // by part

  const MemoryPlan* planned_ = nullptr;
  const Operands* at_ = nullptr;
  std::map<ValueId, kernels::Buffer> gathered_;
  std::map<std::tuple<int64_t, RopeAngles, bool>, kernels::RopeTable>
      rope_tables_;  // by head_dim, angles, demand
};

}  // namespace onceover::cpu
