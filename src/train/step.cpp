#include "train/step.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace onceover {
namespace {

using Tensor = TrainingExecutor::Tensor;

bool all_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

// What is not finite: the first weight, else the first value of a forward pass, else the first gradient.
std::string describe_nonfinite(const std::vector<Sequences>& parts, const Depth& depth,
                               TrainingExecutor& executor) {
  const auto& weights = executor.weights();
  const auto first = [&](Tensor which) -> std::string {
    for (size_t w = 0; w < weights.size(); w++) {
      if (!all_finite(executor.read(static_cast<WeightId>(w), which))) return weights[w].name;
    }
    return {};
  };
  const auto describe = [](const char* kind, const std::string& name) {
    return fmt::format("; the first {} that is not finite is that of {}", kind, name);
  };
  const std::string weight = first(Tensor::Weight);
  std::string text = weight.empty() ? "" : describe("weight", weight);
  for (const Sequences& part : parts) {
    const std::string value = executor.find_nonfinite(part.batch(), depth);
    if (!value.empty()) return text + describe("value", value);
  }
  if (!text.empty()) return text;
  const std::string gradient = first(Tensor::Gradient);
  return gradient.empty() ? "; every weight, value and gradient is finite" : describe("gradient", gradient);
}

void require_finite(const StepNumbers& numbers, int64_t step, const std::vector<Sequences>& parts,
                    const Depth& depth, TrainingExecutor& executor) {
  if (std::isfinite(numbers.loss) && std::isfinite(numbers.balance) && std::isfinite(numbers.grad_norm))
    return;
  throw Error("step {}: the loss is {}, the gradient norm {}, at {} loops{}", step,
              numbers.loss + numbers.balance, numbers.grad_norm, depth.loops,
              describe_nonfinite(parts, depth, executor));
}

}  // namespace

Sequences read_sequences(const TokenSource& source, int64_t first, int64_t count, int64_t length) {
  Sequences read{count, length, {}, {}, 0};
  read.inputs.resize(count * length);
  read.targets.resize(count * length);
  for (int64_t i = 0; i < count; i++) {
    source.read(first + i, std::span(read.inputs).subspan(i * length, length),
                std::span(read.targets).subspan(i * length, length));
  }
  read.scored = std::count_if(read.targets.begin(), read.targets.end(), [](int32_t t) { return t >= 0; });
  return read;
}

StepNumbers accumulate_step(const TrainSettings& settings, const TokenSource& source, int64_t step,
                            int64_t first, const Depth& depth, TrainingExecutor& executor) {
  std::vector<Sequences> parts;
  StepNumbers numbers;
  for (int64_t i = 0; i < accumulation(settings); i++) {
    parts.push_back(read_sequences(source, first + i * settings.batch.micro_sequences,
                                   settings.batch.micro_sequences, settings.data.sequence_length));
    numbers.tokens += parts.back().scored;
  }
  if (numbers.tokens == 0) throw Error("step {}: none of its tokens is scored", step);
  const auto total = static_cast<double>(numbers.tokens);
  for (const Sequences& part : parts) {
    if (part.scored == 0) continue;
    const double share = static_cast<double>(part.scored) / total;
    const LossSum sum = executor.accumulate(part.batch(), depth, 1 / total, share);
    numbers.loss += sum.loss / total;
    numbers.balance += sum.balance * share;
  }
  numbers.grad_norm = executor.gradient_norm();
  require_finite(numbers, step, parts, depth, executor);
  return numbers;
}

std::vector<bool> decayed_weights(const TrainSettings& settings, const std::vector<WeightSpec>& weights) {
  std::vector<bool> decayed;
  for (const WeightSpec& weight : weights) {
    const bool matrix = weight.shape.size() > 1;
    const bool wanted = matrix || settings.optimiser.decay_norms;
    decayed.push_back(wanted && (!weight.embedding || settings.optimiser.decay_embeddings));
  }
  return decayed;
}

Measured measure(const TrainSettings& settings, const TokenSource& source, TrainingExecutor& executor) {
  const int64_t wanted = settings.validation.batches * settings.batch.micro_sequences;
  const int64_t sequences = std::min(wanted, source.sequences);
  LossSum sum;
  for (int64_t first = 0; first < sequences; first += settings.batch.micro_sequences) {
    const int64_t count = std::min(settings.batch.micro_sequences, sequences - first);
    const Sequences part = read_sequences(source, first, count, settings.data.sequence_length);
    const LossSum more = executor.evaluate(part.batch(), Depth{});
    sum.loss += more.loss;
    sum.tokens += more.tokens;
    if (more.correct) sum.correct = sum.correct.value_or(0) + *more.correct;
  }
  if (sum.tokens == 0) throw Error("the held-out text: no token of {} sequences is scored", sequences);
  const auto tokens = static_cast<double>(sum.tokens);
  Measured measured{sum.loss / tokens, {}};
  if (sum.correct) measured.accuracy = static_cast<double>(*sum.correct) / tokens;
  return measured;
}

Validation validation_of(const Measured& measured, const TokenSource& source) {
  const bool known = source.bytes_per_token > 0;
  return {measured.loss, known ? measured.loss / std::numbers::ln2 / source.bytes_per_token : std::nan("")};
}

std::vector<double> measure_loop_rms(const TrainSettings& settings, const TokenSource& source,
                                     TrainingExecutor& executor) {
  const int64_t count = std::min(settings.batch.micro_sequences, source.sequences);
  return executor.loop_rms(read_sequences(source, 0, count, settings.data.sequence_length).batch(), Depth{});
}

}  // namespace onceover
