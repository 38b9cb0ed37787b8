// Inference on the CPU in f32: runs any plan on one sequence, with the state that the analysis derives from
// it.
//
// A call computes only the rows that are demanded: of a prompt, layers that feed nothing but the logits run
// the last row. Prompts are taken in chunks of at most `chunk_tokens`, so scratch memory does not grow with
// them. Results do not depend on the chunks beyond rounding. One thread uses an engine; its kernels use
// OpenMP's threads.
#pragma once
#include <map>
#include <memory>
#include <variant>

#include "analysis/analysis.h"
#include "cpu/memory.h"
#include "cpu/row_cache.h"
#include "cpu/row_ops.h"
#include "execution/chunked_engine.h"

namespace onceover::cpu {

class InferenceEngine : public ChunkedEngine {
 public:
  // `weights` by WeightId.
  InferenceEngine(Plan plan, std::vector<std::vector<float>> weights);

  int vocabulary() const override { return plan_.steps[plan_.logits].width; }
  int64_t tokens() const override { return tokens_; }
  void reset() override;

 private:
  struct Call;
  struct Scratch {
    std::vector<StepAction> actions;
    MemoryPlan memory;
  };
  using Matrix = std::vector<float>;
  using State = std::variant<RowCache, Matrix>;

  void run(std::span<const int32_t> tokens, int64_t logit_rows, float* logits) override;
  const Scratch& scratch(int64_t rows);
  void attend(const Call& call, ValueId step, const Attend& op);
  void retain(const Call& call, ValueId step, const Retain& op);
  void rope(Call& call, ValueId step, const Rope& op);

  Plan plan_;
  Analysis analysis_;
  std::vector<std::vector<float>> weights_;
  WeightTable table_;
  std::vector<State> state_;  // by slot
  std::map<int64_t, Scratch> scratch_;
  kernels::Buffer arena_;
  kernels::ExpertsTape tape_;
  int64_t tokens_ = 0;
};

}  // namespace onceover::cpu
