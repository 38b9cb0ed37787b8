#include "cli/loaded_model.h"

#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "cli/usage.h"
#include "models/model_file.h"

namespace onceover {
namespace {

// Of a checkpoint its own folder, of a single file the one that it lies in.
std::filesystem::path tokenizer_folder(const ModelFile& file) {
  if (file.checkpoint() != nullptr) return file.checkpoint()->directory();
  return std::filesystem::is_directory(file.path()) ? file.path() : file.path().parent_path();
}

}  // namespace

LoadedModel load_model(const std::string& named, int loops, const ExecutorChoice& executor) {
  const std::string name = named.empty() ? default_model() : named;
  const ModelFile file(name);
  Plan plan = build(file.config(), Run{loops});
  std::vector<std::vector<float>> weights = file.read(plan);
  const std::filesystem::path folder = tokenizer_folder(file);
  LoadedModel model{folder, file.config(), make_engine(executor, std::move(plan), std::move(weights)),
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
}

}  // namespace onceover
