#include "train/token_sources.h"

#include "train/shard_source.h"
#include "train/swaps_source.h"

namespace onceover {

TokenSources open_sources(const TrainSettings& settings,
                          const std::function<void(const std::string&)>& warn) {
  return settings.data.task == DataTask::Swaps ? swaps_sources(settings) : shard_sources(settings, warn);
}

}  // namespace onceover
