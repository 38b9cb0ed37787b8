#include "train/bigram.h"

#include <unistd.h>

#include <cmath>

#include "base/hash.h"
#include "plan/builder.h"

namespace onceover::testing {

Plan bigram_plan(int loops) {
  Builder b;
  ValueId x = b.embed("embed_tokens", bigram_vocab, bigram_vocab, Init::normal(0.1));
  for (int i = 0; i < loops; i++) {
    b.loop(i);
    x = b.add(x, x);
  }
  b.loop(0);
  b.logits(x, "lm_head.weight", bigram_vocab, Init::normal(0.1));
  return b.finish();
}

BigramExecutor::BigramExecutor() : plan_(bigram_plan(bigram_loops)) {
  constexpr size_t n = size_t{bigram_vocab} * bigram_vocab;
  for (size_t w = 0; w < 2; w++) {
    tables_.push_back(
        {std::vector<float>(n), std::vector<float>(n), std::vector<float>(n), std::vector<double>(n)});
  }
}

LossSum BigramExecutor::run(const TokenBatch& batch, int loops, double scale, bool with_gradient) {
  const double depth = loops == 0 ? bigram_loops : loops;
  LossSum sum;
  for (size_t i = 0; i < batch.inputs.size(); i++) {
    if (batch.targets[i] < 0) continue;
    const size_t row = static_cast<size_t>(batch.inputs[i]) * bigram_vocab;
    double p[bigram_vocab], total = 0;
    for (int j = 0; j < bigram_vocab; j++) {
      total += p[j] = std::exp(depth * tables_[0].weight[row + j] + tables_[1].weight[row + j]);
    }
    sum.loss -= std::log(p[batch.targets[i]] / total);
    sum.tokens++;
    for (int j = 0; with_gradient && j < bigram_vocab; j++) {
      const double g = scale * (p[j] / total - (j == batch.targets[i] ? 1 : 0));
      tables_[0].gradient[row + j] += depth * g;
      tables_[1].gradient[row + j] += g;
    }
  }
  return sum;
}

LossSum BigramExecutor::accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale, double) {
  batches.push_back(hash64(std::as_bytes(batch.inputs), hash64(std::as_bytes(batch.targets))));
  return run(batch, depth.loops, loss_scale, true);
}

LossSum BigramExecutor::evaluate(const TokenBatch& batch, const Depth& depth) {
  return run(batch, depth.loops, 0, false);
}

double BigramExecutor::gradient_norm() {
  double sum = 0;
  for (const Table& table : tables_) {
    for (double g : table.gradient) sum += g * g;
  }
  norms.push_back(std::sqrt(sum));
  return norms.back();
}

void BigramExecutor::update(const AdamW& s) {
  scales.push_back(s.gradient_scale);
  decayed = s.decayed;
  const double correct1 = 1 - std::pow(s.beta1, s.step), correct2 = 1 - std::pow(s.beta2, s.step);
  for (size_t w = 0; w < tables_.size(); w++) {
    Table& t = tables_[w];
    for (size_t i = 0; i < t.weight.size(); i++) {
      const double g = t.gradient[i] * s.gradient_scale;
      t.first[i] = static_cast<float>(s.beta1 * t.first[i] + (1 - s.beta1) * g);
      t.second[i] = static_cast<float>(s.beta2 * t.second[i] + (1 - s.beta2) * g * g);
      const double decay = s.decayed.empty() || s.decayed[w] ? s.weight_decay * t.weight[i] : 0;
      const double step = t.first[i] / correct1 / (std::sqrt(t.second[i] / correct2) + s.epsilon);
      t.weight[i] = static_cast<float>(t.weight[i] - s.learning_rate * (step + decay));
      t.gradient[i] = 0;
    }
  }
  if (s.step == poisoned_update) tables_[1].weight[7] = std::numeric_limits<float>::quiet_NaN();
}

std::vector<float> BigramExecutor::read(WeightId id, Tensor which) const {
  const Table& t = tables_.at(id);
  switch (which) {
    case Tensor::Weight:
      return t.weight;
    case Tensor::Gradient:
      return {t.gradient.begin(), t.gradient.end()};
    case Tensor::FirstMoment:
      return t.first;
    case Tensor::SecondMoment:
      break;
  }
  return t.second;
}

void BigramExecutor::write(WeightId id, Tensor which, std::span<const float> values) {
  Table& t = tables_.at(id);
  if (which == Tensor::Gradient) throw std::logic_error("the trainer writes no gradients");
  auto& out = which == Tensor::Weight ? t.weight : which == Tensor::FirstMoment ? t.first : t.second;
  if (values.size() != out.size()) throw std::logic_error("wrong size");
  out.assign(values.begin(), values.end());
}

std::vector<std::vector<float>> all_numbers(const TrainingExecutor& executor) {
  std::vector<std::vector<float>> all;
  for (size_t w = 0; w < executor.weights().size(); w++) {
    for (auto which : {TrainingExecutor::Tensor::Weight, TrainingExecutor::Tensor::FirstMoment,
                       TrainingExecutor::Tensor::SecondMoment}) {
      all.push_back(executor.read(static_cast<WeightId>(w), which));
    }
  }
  return all;
}

TokenSource bigram_text(int64_t sequences, std::function<int64_t(int64_t)> scored) {
  TokenSource source;
  source.read = [scored](int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) {
    const auto token = [&](size_t j) {
      return static_cast<int32_t>(hash64(std::to_string(j), static_cast<uint64_t>(sequence)) % 7 %
                                  bigram_vocab);
    };
    const int64_t counted = scored ? scored(sequence) : static_cast<int64_t>(targets.size());
    for (size_t j = 0; j < inputs.size(); j++) {
      inputs[j] = token(j);
      targets[j] = static_cast<int64_t>(j) < counted ? token(j + 1) : -1;
    }
  };
  source.sequences = sequences;
  source.fingerprint = 0xfeedfacecafef00d;
  source.bytes_per_token = 3.5;
  return source;
}

TrainingJob bigram_job() {
  TrainingJob job;
  job.model.config_json = "{\"architecture\": \"bigram\"}\n";
  job.model.loops = bigram_loops;
  job.model.plan = [](int loops) { return std::make_shared<const Plan>(bigram_plan(loops)); };
  job.train = bigram_text(1000);
  job.validation = bigram_text(6);
  return job;
}

TrainSettings bigram_settings(const std::filesystem::path& folder) {
  TrainSettings s;
  s.model.config = "bigram";
  s.data.shards = "none";
  s.data.sequence_length = 8;
  s.batch.tokens = 32;
  s.batch.micro_sequences = 2;
  s.optimiser.learning_rate = 0.05;
  s.schedule.steps = 20;
  s.schedule.warmup_steps = 3;
  s.loops.sampling = LoopSampling::Binomial;
  s.run.folder = folder.string();
  return s;
}

MemoryFolder::MemoryFolder()
    : TemporaryFolder(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path()) {}

}  // namespace onceover::testing
