#include "cpu/engine.h"

namespace onceover::cpu {

InferenceEngine::InferenceEngine(const Plan& plan, std::shared_ptr<const InferenceWeights> weights,
                                 const EngineOptions& options)
    : batch_([plan](int) { return plan; }, std::move(weights), options), sequence_(batch_.open()) {}

std::span<const float> InferenceEngine::feed(std::span<const int32_t> tokens) {
  const BatchEngine::Part part{sequence_, tokens, 1};
  return batch_.run({&part, 1});
}

std::span<const float> InferenceEngine::feed_all(std::span<const int32_t> tokens) {
  const BatchEngine::Part part{sequence_, tokens, std::ssize(tokens)};
  return batch_.run({&part, 1});
}

void InferenceEngine::reset() { batch_.truncate(sequence_, 0); }

}  // namespace onceover::cpu
