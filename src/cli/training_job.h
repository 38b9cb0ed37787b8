// A run's settings turned into what the trainer needs: the model, its plans, its text.
#pragma once
#include <functional>
#include <string>

#include "architectures/config.h"
#include "train/job.h"
#include "train/settings.h"
#include "train/token_sources.h"

namespace onceover {

struct PreparedTraining {
  Config config;
  TrainingJob job;
};

// Opens model and shards. A preset takes the vocabulary of the shards; any other model must have at least as
// many rows. Errors name the setting. `warn` is told of a text without <eos>.
PreparedTraining prepare_training(const TrainSettings& settings,
                                  const std::function<void(const std::string&)>& warn);

// The same of a config that is known, on sources that are open. Its context is made long enough; it gets the
// <eos> of the text unless it has one. Error, naming `where`, when it has too few rows for the tokens.
PreparedTraining prepare_model(Config config, const TrainSettings& settings, TokenSources sources,
                               const std::string& where);

}  // namespace onceover
