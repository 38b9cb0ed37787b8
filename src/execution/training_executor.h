// What the trainer asks of a machine: gradients of a batch, an optimiser step, and its numbers in and out.
//
// Implemented by the CPU's reverse pass (cpu/trainer.h) and by libtorch (src/torch). All weights, gradients
// and moments are f32 at this border. Not thread-safe: one trainer drives one executor.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace onceover {

// `sequences` rows of `length` tokens, row-major. targets[i] is the token to predict after inputs[i]; -1 =
// not scored.
struct TokenBatch {
  int64_t sequences = 0, length = 0;
  std::span<const int32_t> inputs, targets;
};

// Error unless the spans have sequences * length tokens, all in a vocabulary of this size (targets may be
// -1).
void check_tokens(const TokenBatch& batch, int64_t vocabulary);

// The plan at a number of loops; 0 = the model's own. All have the same weights.
using PlanAtDepth = std::function<Plan(int loops)>;

struct LossSum {
  double loss = 0;     // natural-log cross-entropy, summed over scored tokens
  int64_t tokens = 0;  // scored tokens
  double balance = 0;  // load-balancing losses of routed layers, summed over layers, with their coefficient
  // Scored tokens whose largest logit is their target's; nothing where they were not counted.
  std::optional<int64_t> correct = {};
};

// What of a step's values is dropped after the forward pass and made again for the backward pass: nothing;
// the inner values of each layer application; or, in the loop of a looped model, those of whole iterations,
// so that an iteration costs the memory of one hidden state.
enum class Recompute : uint8_t { None, Layers, Iterations };

// Which depth a batch runs, and how far back its gradient goes.
struct Depth {
  int loops = 0;           // 0 = the config's
  int gradient_loops = 0;  // 0 = all
};

struct AdamW {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  int64_t step;               // from 1, for bias correction
  double gradient_scale = 1;  // multiplies every gradient first: clipping
  std::vector<bool> decayed;  // by WeightId: whether weight_decay applies; empty = to all
};

class TrainingExecutor {
 public:
  virtual ~TrainingExecutor() = default;

  // Adds the gradient of loss_scale * (sum of token losses) to the gradients held, plus that of the balance
  // losses scaled by balance_scale; the caller divides by the tokens of the whole step, so that micro-batches
  // weigh by their tokens.
  virtual LossSum accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale,
                             double balance_scale) = 0;
  virtual LossSum evaluate(const TokenBatch& batch, const Depth& depth) = 0;

  virtual double gradient_norm() = 0;              // Euclidean, over all weights
  virtual void update(const AdamW& settings) = 0;  // one AdamW step; gradients are zero afterwards

  virtual const std::vector<WeightSpec>& weights() const = 0;
  enum class Tensor : uint8_t { Weight, Gradient, FirstMoment, SecondMoment };
  virtual std::vector<float> read(WeightId id, Tensor which) const = 0;
  virtual void write(WeightId id, Tensor which, std::span<const float> values) = 0;

  // The first value of a forward pass that is not finite, as "model.layers.3.mlp, loop 1"; "" when there is
  // none or the executor cannot tell.
  virtual std::string find_nonfinite(const TokenBatch& batch, const Depth& depth) {
    static_cast<void>(batch), static_cast<void>(depth);
    return {};
  }

  // Root mean square of the hidden state after each iteration of the loop; empty for a model that repeats
  // nothing, or when the executor cannot tell.
  virtual std::vector<double> loop_rms(const TokenBatch& batch, const Depth& depth) {
    static_cast<void>(batch), static_cast<void>(depth);
    return {};
  }

  // FLOP/s that the machine can do at most; 0 when the executor cannot tell.
  virtual double peak_flops() const { return 0; }

  // Bytes planned for weights, gradients, moments and one batch of the largest shape seen so far.
  virtual int64_t planned_bytes() const = 0;
};

}  // namespace onceover
