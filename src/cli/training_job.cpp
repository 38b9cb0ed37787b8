#include "cli/training_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "models/model_file.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

Config model_of(const TrainSettings& settings, const TokenSources& sources, const std::string& name) {
  Config config = find_model(name);
  const bool preset = !std::filesystem::exists(name) && find_preset(name);
  if (preset) config.vocab_size = sources.vocab_size;
  if (settings.model.loops > 0) config.num_loops = static_cast<int>(settings.model.loops);
  return config;
}

// The weights of the model in `path`, held against the plan at once.
void start_from(const std::string& path, PreparedTraining& prepared) {
  const auto file = std::make_shared<const ModelFile>(path);
  const auto weights = file->bind(*prepared.job.model.plan(prepared.job.model.loops));
  prepared.job.model.start = [file, weights](WeightId id) { return weights[id]->numbers(); };
}

}  // namespace

PreparedTraining prepare_training(const TrainSettings& settings,
                                  const std::function<void(const std::string&)>& warn) {
  TokenSources sources = open_sources(settings, warn);
  const std::string& name = settings.model.init.empty() ? settings.model.config : settings.model.init;
  Config config = model_of(settings, sources, name);
  PreparedTraining prepared = prepare_model(std::move(config), settings, std::move(sources), name);
  if (!settings.model.init.empty()) start_from(name, prepared);
  return prepared;
}

PreparedTraining prepare_model(Config config, const TrainSettings& settings, TokenSources sources,
                               const std::string& where) {
  if (config.vocab_size < sources.vocab_size) {
    const bool text = settings.data.task == DataTask::Text;
    throw Error("{}: vocab_size is {}, but the tokens of {} need {}", where, config.vocab_size,
                text ? settings.data.shards : "data.task", sources.vocab_size);
  }
  if (config.eos_token_id.empty() && sources.eos) config.eos_token_id = {*sources.eos};
  config.max_position_embeddings =
      std::max(config.max_position_embeddings, static_cast<int>(settings.data.sequence_length));
  check_config(config, where);
  PreparedTraining prepared{config, {}};
  TrainedModel& model = prepared.job.model;
  model.config_json = config_to_json(config).dump(2) + "\n";
  model.loops = config.num_loops;
  model.plan = [config](int loops) { return std::make_shared<const Plan>(build(config, {loops})); };
  if (!settings.data.shards.empty()) model.tokenizer_files = tokenizer_files_in(settings.data.shards);
  prepared.job.train = std::move(sources.train);
  prepared.job.validation = std::move(sources.validation);
  prepared.job.probes = std::move(sources.probes);
  return prepared;
}

}  // namespace onceover
