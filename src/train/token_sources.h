// The sequences that a run's settings name: token shards, or a task made on the spot.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/job.h"
#include "train/settings.h"

namespace onceover {

struct TokenSources {
  TokenSource train;
  std::optional<TokenSource> validation;  // none when a folder holds no held-out text of one sequence
  std::vector<Probe> probes;
  int vocab_size = 0;
  std::optional<int> eos;
};

// Opens data.shards, or makes the sequences of data.task. `warn` is told once when a text has an <eos> that
// does not occur among its targets. Not safe to read from several threads.
TokenSources open_sources(const TrainSettings& settings, const std::function<void(const std::string&)>& warn);

}  // namespace onceover
