#include "cli/loaded_model.h"

#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "cli/usage.h"
#include "weights/bind.h"
#include "weights/checkpoint.h"

namespace onceover {

LoadedModel load_model(const std::string& named, int loops, const ExecutorChoice& executor) {
  const std::string directory = named.empty() ? default_model() : named;
  const Checkpoint checkpoint(directory);
  const Config config =
      config_from_text(checkpoint.config_text(), (checkpoint.directory() / "config.json").string());
  Plan plan = build(config, Run{loops});
  std::vector<std::vector<float>> weights;
  for (const TensorView& tensor : bind_weights(plan, checkpoint.tensors(), directory))
    weights.push_back(to_f32(tensor));
  LoadedModel model{checkpoint.directory(), config,
                    make_engine(executor, std::move(plan), std::move(weights)),
                    load_tokenizer(checkpoint.directory())};
  if (model.tokenizer->vocab_size() > model.engine->vocabulary()) {
    throw Error("{}: the tokeniser has {} tokens, the model only {}", directory,
                model.tokenizer->vocab_size(), model.engine->vocabulary());
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
