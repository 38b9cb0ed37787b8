// What a run trains and on what, without saying where it came from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace onceover {

// A model is its plans, one for each depth, all with the same weights in the same order. The trainer knows no
// architecture.
struct TrainedModel {
  std::string config_json;  // stored as config.json in checkpoints
  int loops = 1;
  std::function<std::shared_ptr<const Plan>(int loops)> plan;
  // The numbers to begin with, by WeightId; absent = fresh ones by run.seed.
  std::function<std::vector<float>(WeightId)> start = {};
  std::vector<std::filesystem::path> tokenizer_files;  // copied into checkpoints
};

// Sequences of tokens in a fixed order. Sequence i is the same whenever, and by whomever, it is read.
struct TokenSource {
  // Fills both spans, of equal length: targets[j] is the token to predict after inputs[j]; -1 = not scored.
  std::function<void(int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets)> read;
  int64_t sequences = 0;       // in one pass over the text; training goes on into further passes
  uint64_t fingerprint = 0;    // of tokens and order: a resumed run must find the same
  double bytes_per_token = 0;  // of the text before tokenisation; 0 = unknown
};

// Held-out sequences of one kind, measured beside the validation: records hold NAME_loss and
// NAME_accuracy.
struct Probe {
  std::string name;
  TokenSource source;
};

struct TrainingJob {
  TrainedModel model;
  TokenSource train;
  std::optional<TokenSource> validation;
  std::vector<Probe> probes;
};

}  // namespace onceover
