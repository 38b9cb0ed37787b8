// A model small enough to check by hand, behind the trainer's interface: logits(token) = depth * E[token] +
// H[token].
//
// Sums are in double and in order, weights and moments are f32, so runs repeat bit for bit.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "execution/training_executor.h"
#include "support/temporary_folder.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover::testing {

constexpr int bigram_vocab = 5;
constexpr int bigram_loops = 3;

// Weights: E "model.embed_tokens.weight" and H "lm_head.weight", both [5, 5]. The depth is in the plan as
// `loops` sums.
Plan bigram_plan(int loops);

class BigramExecutor : public TrainingExecutor {
 public:
  BigramExecutor();

  LossSum accumulate(const TokenBatch& batch, const Depth& depth, double loss_scale,
                     double balance_scale) override;
  LossSum evaluate(const TokenBatch& batch, const Depth& depth) override;
  double gradient_norm() override;
  void update(const AdamW& settings) override;
  const std::vector<WeightSpec>& weights() const override { return plan_.weights; }
  std::vector<float> read(WeightId id, Tensor which) const override;
  void write(WeightId id, Tensor which, std::span<const float> values) override;
  int64_t planned_bytes() const override { return 4242; }

  std::vector<uint64_t> batches;  // a hash of every batch trained on
  std::vector<double> scales;     // gradient_scale of every update
  std::vector<double> norms;
  std::vector<bool> decayed;                                      // of the last update
  int64_t poisoned_update = std::numeric_limits<int64_t>::max();  // writes a NaN into H after this one

 private:
  LossSum run(const TokenBatch& batch, int loops, double scale, bool with_gradient);

  Plan plan_;
  struct Table {
    std::vector<float> weight, first, second;
    std::vector<double> gradient;
  };
  std::vector<Table> tables_;
};

// Weights and moments, to compare bit for bit.
std::vector<std::vector<float>> all_numbers(const TrainingExecutor& executor);

// Sequence i, token j: a function of i and j, not uniform, so that there is something to learn. `scored(i)`
// targets of sequence i count; all when empty.
TokenSource bigram_text(int64_t sequences, std::function<int64_t(int64_t)> scored = {});

TrainingJob bigram_job();

// 20 steps of 4 sequences of 8 tokens, two at a time, in `folder`.
TrainSettings bigram_settings(const std::filesystem::path& folder = {});

// A fresh folder, in memory where that is to be had: hundreds of checkpoints are saved, and each waits for
// the disk.
class MemoryFolder : public TemporaryFolder {
 public:
  MemoryFolder();
};

}  // namespace onceover::testing
