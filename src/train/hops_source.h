// The multi-hop task (data/multi_hop_task.h) as the trainer reads it, with a probe for each number of hops.
#pragma once
#include "train/token_sources.h"

namespace onceover {

// Error unless data.sequence_length is that of the task. The held-out sequences are
// the same for every data.seed.
TokenSources hops_sources(const TrainSettings& settings);

}  // namespace onceover
