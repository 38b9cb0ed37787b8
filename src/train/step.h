// One training step: the batches of its sequences, its gradient, its update; and a pass over held-out text.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "execution/training_executor.h"
#include "report/record.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

// Sequences as the executor takes them.
struct Sequences {
  int64_t count = 0, length = 0;
  std::vector<int32_t> inputs, targets;  // [count, length]
  int64_t scored = 0;                    // targets that are not -1

  TokenBatch batch() const { return {count, length, inputs, targets}; }
};
Sequences read_sequences(const TokenSource& source, int64_t first, int64_t count, int64_t length);

struct StepNumbers {
  double loss = 0;       // nats a token, over every scored token of the step
  double balance = 0;    // micro-batches weigh by their scored tokens
  double grad_norm = 0;  // before clipping
  int64_t tokens = 0;    // scored
};

// Accumulates the gradient of the step that begins with sequence `first`. Every scored token of the step
// weighs the same, however the step is split. The balance loss is a product of means over a micro-batch, so
// it alone depends on the split. Error, with the executor's weights untouched, when loss or gradient is not
// finite; `step` names it.
StepNumbers accumulate_step(const TrainSettings& settings, const TokenSource& source, int64_t step,
                            int64_t first, const Depth& depth, TrainingExecutor& executor);

// Which weights take weight decay: all matrices; norms, scalars and embeddings as the settings say.
std::vector<bool> decayed_weights(const TrainSettings& settings, const std::vector<WeightSpec>& weights);

// Over the first sequences of a source, as many as validation.batches says.
struct Measured {
  double loss = 0;                 // nats a token
  std::optional<double> accuracy;  // share of scored tokens whose largest logit is their target's
};
Measured measure(const TrainSettings& settings, const TokenSource& source, TrainingExecutor& executor);

// NaN bits per byte where the source does not know its bytes a token.
Validation validation_of(const Measured& measured, const TokenSource& source);

// TrainingExecutor::loop_rms of the first micro-batch of `source`.
std::vector<double> measure_loop_rms(const TrainSettings& settings, const TokenSource& source,
                                     TrainingExecutor& executor);

}  // namespace onceover
