// Inference by libtorch behind execution/engine.h: any plan on one sequence, with the state that the analysis
// derives from it.
//
// Only demanded rows are computed; prompts are taken in chunks of at most `chunk_tokens`. A token costs what
// its attention sees, never a pass over the prompt again.
#pragma once
#include "analysis/analysis.h"
#include "execution/chunked_engine.h"
#include "execution/torch_module.h"
#include "torch/row_ops.h"

namespace onceover::torch_executor {

// The rows of a key or value that later queries will see, oldest first.
class RowCache {
 public:
  // window 0 = every row. Room grows by doubling.
  RowCache(int64_t width, int64_t window, const at::TensorOptions& options);
  void append(const Tensor& rows);  // [1, rows, width]; the previous append's unseen rows go first
  Tensor rows() const { return buffer_.narrow(1, 0, count_); }  // [1, count, width]

 private:
  Tensor buffer_;
  int64_t window_, count_ = 0;
};

class InferenceEngine : public ChunkedEngine {
 public:
  InferenceEngine(Plan plan, std::vector<std::vector<float>> weights, const TorchOptions& options);

  int vocabulary() const override { return plan_.steps[plan_.logits].width; }
  int64_t tokens() const override { return tokens_; }
  void reset() override;

 private:
  void run(std::span<const int32_t> tokens, int64_t logit_rows, float* logits) override;
  Tensor step(ValueId i, const Tensor& tokens, int64_t rows);
  Tensor retain_step(const Retain& op, ValueId i, int64_t rows);

  Plan plan_;
  Analysis analysis_;
  at::Device device_;
  std::vector<Tensor> weights_;
  WeightReader reader_;
  std::vector<RowCache> caches_;  // by slot
  std::vector<Tensor> matrices_;  // by slot: [1, heads, head_dim, v_head_dim]
  std::vector<Tensor> values_;    // of the chunk at hand, by value: the last demanded rows, [1, rows, width]
  int64_t tokens_ = 0;
};

}  // namespace onceover::torch_executor
