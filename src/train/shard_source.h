// Token shards (data/batch_reader.h) as the trainer reads them: any sequence of the order by its number.
#pragma once
#include <functional>
#include <string>

#include "data/token_stream.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

struct ShardSources {
  TokenSource train;
  std::optional<TokenSource> validation;  // none when the folder holds no held-out text of one sequence
  int vocab_size = 0;
  std::optional<int> eos;
};

// Opens data.shards. `warn` is told once when <eos> does not occur among the targets. Not safe to read from
// several threads.
ShardSources open_shards(const TrainSettings& settings, const std::function<void(const std::string&)>& warn);

}  // namespace onceover
