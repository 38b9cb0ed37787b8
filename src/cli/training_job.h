// A run's settings turned into what the trainer needs: the model, its plans, its text.
#pragma once
#include <functional>
#include <string>

#include "architectures/config.h"
#include "train/job.h"
#include "train/settings.h"

namespace onceover {

struct PreparedTraining {
  Config config;
  TrainingJob job;
};

// Opens model and shards. A preset takes the vocabulary of the shards; any other model must have at least as
// many rows. Errors name the setting. `warn` is told of a text without <eos>.
PreparedTraining prepare_training(const TrainSettings& settings,
                                  const std::function<void(const std::string&)>& warn);

}  // namespace onceover
