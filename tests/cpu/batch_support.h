// A tiny model with random weights, engines for it, and what the oracle says of its logits.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "architectures/registry.h"
#include "cpu/batch_engine.h"
#include "cpu/tolerances.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::cpu {

inline std::shared_ptr<const InferenceWeights> packed(const Plan& plan, const reference::Weights& weights) {
  std::vector<std::vector<float>> single;
  for (const auto& weight : weights) single.emplace_back(weight.begin(), weight.end());
  return std::make_shared<InferenceWeights>(plan, WeightFormat::F32, single);
}

// The tiny models that take prompts of any length: not those with a table of positions.
inline std::vector<test::Model> unbounded_models() {
  std::vector<test::Model> models = test::tiny_models();
  std::erase_if(models, [](const test::Model& m) {
    return m.config.self_position_embedding == PositionEmbedding::Learned;
  });
  return models;
}

inline bool is_routed(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& s) { return std::holds_alternative<Experts>(s.op); });
}

class Subject {
 public:
  Subject(test::Model model, uint64_t seed)
      : model_(std::move(model)),
        weights_(test::random_weights(model_.plan, seed)),
        packed_(packed(model_.plan, weights_)) {}

  const test::Model& model() const { return model_; }
  int vocabulary() const { return model_.config.vocab_size; }
  const reference::Weights& weights() const { return weights_; }

  // 0 loops = those of the model.
  Plan plan(int loops = 0) const { return loops == 0 ? model_.plan : build(model_.config, Run{loops}); }
  BatchEngine engine(const EngineOptions& options = {}) const {
    return BatchEngine([this](int loops) { return plan(loops); }, packed_, options);
  }

 private:
  test::Model model_;
  reference::Weights weights_;
  std::shared_ptr<const InferenceWeights> packed_;
};

// Looked up by token; logits are for the token before.
class ExpectedLogits {
 public:
  ExpectedLogits(const Subject& subject, std::span<const int32_t> tokens, int loops = 0)
      : ExpectedLogits(test::ExactLogits(subject.plan(loops), subject.weights(), tokens)) {}
  explicit ExpectedLogits(test::ExactLogits exact) : exact_(std::move(exact)) {}

  void expect_near(std::span<const float> found, int64_t row,
                   const Tolerance& tolerance = test::in_single_precision) const {
    ASSERT_LT(test::relative_difference(found, exact_.row(row)), exact_.allowed(row, tolerance))
        << "row " << row;
  }

 private:
  test::ExactLogits exact_;
};

inline std::vector<float> feed(BatchEngine& engine, SequenceId id, std::span<const int32_t> tokens,
                               int64_t logit_rows = 1) {
  const BatchEngine::Part part{id, tokens, logit_rows};
  const auto logits = engine.run({&part, 1});
  return {logits.begin(), logits.end()};
}

}  // namespace onceover::cpu
