// Tracking swaps (data/swap_task.h) as the trainer reads it, with a probe for each doubling of their number.
#pragma once
#include "train/token_sources.h"

namespace onceover {

// The held-out sequences are the same for every data.seed. Probes swaps_4, swaps_8, swaps_16, …: the answers
// after 1 to 4 swaps, 5 to 8, 9 to 16, …
TokenSources swaps_sources(const TrainSettings& settings);

}  // namespace onceover
