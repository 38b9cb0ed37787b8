// Token shards (data/batch_reader.h) as the trainer reads them: any sequence of the order by its number.
#pragma once
#include "train/token_sources.h"

namespace onceover {

// Opens data.shards. `warn` is told once when <eos> does not occur among the targets. Not safe to read from
// several threads.
TokenSources shard_sources(const TrainSettings& settings,
                           const std::function<void(const std::string&)>& warn);

}  // namespace onceover
