#include "cli/training_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "train/shard_source.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

Config model_of(const TrainSettings& settings, const ShardSources& shards) {
  const std::string& source = settings.model.init.empty() ? settings.model.config : settings.model.init;
  Config config = find_model(source);
  const bool preset = !std::filesystem::exists(source) && find_preset(source);
  if (preset) config.vocab_size = shards.vocab_size;
  if (config.vocab_size < shards.vocab_size) {
    throw Error("{}: vocab_size is {}, but the tokens of {} need {}", source, config.vocab_size,
                settings.data.shards, shards.vocab_size);
  }
  if (config.eos_token_id.empty() && shards.eos) config.eos_token_id = {*shards.eos};
  if (settings.model.loops > 0) config.num_loops = static_cast<int>(settings.model.loops);
  config.max_position_embeddings =
      std::max(config.max_position_embeddings, static_cast<int>(settings.data.sequence_length));
  check_config(config, source);
  return config;
}

}  // namespace

PreparedTraining prepare_training(const TrainSettings& settings,
                                  const std::function<void(const std::string&)>& warn) {
  ShardSources shards = open_shards(settings, warn);
  PreparedTraining prepared{model_of(settings, shards), {}};
  const Config& config = prepared.config;
  TrainedModel& model = prepared.job.model;
  model.config_json = config_to_json(config).dump(2) + "\n";
  model.loops = config.num_loops;
  model.plan = [config](int loops) { return std::make_shared<const Plan>(build(config, {loops})); };
  model.tokenizer_files = tokenizer_files_in(settings.data.shards);
  prepared.job.train = std::move(shards.train);
  prepared.job.validation = std::move(shards.validation);
  return prepared;
}

}  // namespace onceover
