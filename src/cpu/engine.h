// Inference of one sequence on the CPU, as text generation asks for it: a BatchEngine (batch_engine.h) with
// one sequence in it. One thread uses an engine; its kernels use OpenMP's threads.
#pragma once
#include "cpu/batch_engine.h"
#include "execution/engine.h"

namespace onceover::cpu {

class InferenceEngine : public Engine {
 public:
  InferenceEngine(const Plan& plan, std::shared_ptr<const InferenceWeights> weights,
                  const EngineOptions& options = {});

  int vocabulary() const override { return batch_.vocabulary(); }
  int64_t tokens() const override { return batch_.tokens(sequence_); }
  std::span<const float> feed(std::span<const int32_t> tokens) override;
  std::span<const float> feed_all(std::span<const int32_t> tokens) override;
  void reset() override;
  std::optional<int64_t> kv_bytes() const override { return batch_.kv_bytes(); }

 private:
  BatchEngine batch_;
  SequenceId sequence_;
};

}  // namespace onceover::cpu
