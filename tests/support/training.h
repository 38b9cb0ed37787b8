// A random batch, its loss by the oracle, and gradients of an executor: what tests of executors share.
#pragma once
#include <memory>
#include <vector>

#include "execution/training_executor.h"
#include "reference/reference.h"
#include "support/models.h"
#include "support/random.h"

namespace onceover::test {

struct Tokens {
  int64_t sequences, length;
  std::vector<int32_t> inputs, targets;

  TokenBatch batch() const { return {sequences, length, inputs, targets}; }
  int64_t scored() const;
};

// Two targets are not scored. By default longer than three windows of the tiny models.
Tokens random_tokens(FreshRandom& random, int vocab, int64_t sequences = 2, int64_t length = 19);

// The model's plan at any depth; 0 = the depth it was made with.
PlanAtDepth plans_of(const Model& model);

void write_all(TrainingExecutor& executor, TrainingExecutor::Tensor which, const reference::Weights& numbers);

// The plan at whose steps before iteration loops - gradient_loops of the loop every weight has a copy of its
// own, behind all others and in their order: a derivative by the others is that of a gradient that stops
// there.
Plan stopped_plan(Plan plan, int gradient_loops);

// Cross-entropy summed over the scored tokens.
double oracle_loss(const Plan& plan, const reference::Weights& weights, const Tokens& tokens);

using Numbers = std::vector<std::vector<float>>;  // by WeightId

Numbers read_all(const TrainingExecutor& executor, TrainingExecutor::Tensor which);

// Of the mean token loss, plus balance_scale times the balance losses; what was held before is cleared.
Numbers gradients(TrainingExecutor& executor, const Tokens& tokens, Depth depth = {},
                  double balance_scale = 0);

// Over the largest number of `a`.
double relative_difference(const Numbers& a, const Numbers& b);

}  // namespace onceover::test
