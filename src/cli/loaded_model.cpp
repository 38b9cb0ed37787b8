#include "cli/loaded_model.h"

#include <set>

#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "cli/quantised_checkpoint.h"
#include "cli/usage.h"
#include "models/model_file.h"

namespace onceover {
namespace {

// Of a checkpoint its own folder, of a single file the one that it lies in.
std::filesystem::path tokenizer_folder(const ModelFile& file) {
  if (file.checkpoint() != nullptr) return file.checkpoint()->directory();
  return std::filesystem::is_directory(file.path()) ? file.path() : file.path().parent_path();
}

// The format that holds every large matrix exactly.
std::string stored_format(const Plan& plan, const std::vector<const StoredWeight*>& weights) {
  std::set<std::string_view> types;
  for (size_t id = 0; id < weights.size(); ++id) {
    if (plan.weights[id].quantise) types.insert(weights[id]->type());
  }
  if (types == std::set<std::string_view>{"BF16"}) return "bf16";
  if (types == std::set<std::string_view>{"F16"}) return "f16";
  return "f32";
}

EngineWeights engine_weights(const std::shared_ptr<const ModelFile>& file, const Plan& plan) {
  if (file->checkpoint() != nullptr && is_quantised(*file->checkpoint())) {
    auto packed = open_quantised(file->checkpoint(), plan, file);
    const std::string format(cpu::weight_format_name(packed->format()));
    return {{}, format, std::move(packed)};
  }
  const auto weights = file->bind(plan);
  return {[file, weights](WeightId id) { return weights[static_cast<size_t>(id)]->numbers(); },
          stored_format(plan, weights),
          {}};
}

}  // namespace

LoadedModel load_model(const std::string& named, int loops, const ExecutorChoice& executor) {
  const std::string name = named.empty() ? default_model() : named;
  const auto file = std::make_shared<const ModelFile>(name);
  const Plan plan = build(file->config(), Run{loops});
  const std::filesystem::path folder = tokenizer_folder(*file);
  LoadedModel model{folder, file->config(), make_engine(executor, plan, engine_weights(file, plan)),
                    load_tokenizer(folder)};
  if (model.tokenizer->vocab_size() > model.engine->vocabulary()) {
    throw Error("{}: the tokeniser has {} tokens, the model only {}", name, model.tokenizer->vocab_size(),
                model.engine->vocabulary());
  }
  return model;
}

void add_model_options(CLI::App& app, std::string& directory, int& loops, ExecutorChoice& executor) {
  app.add_option("--model", directory,
                 "the checkpoint directory; the model that comes with the program when left out")
      ->type_name("DIRECTORY");
  app.add_option("--loops", loops, "how often the repeated layers run, instead of the config's number")
      ->check(whole_number(1, 1024))
      ->type_name("T");
  add_executor_options(app, executor);
  add_inference_options(app, executor);
}

}  // namespace onceover
