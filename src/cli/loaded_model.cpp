#include "cli/loaded_model.h"

#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
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
  LoadedModel model{config, make_engine(executor, std::move(plan), std::move(weights)),
                    load_tokenizer(checkpoint.directory())};
  if (model.tokenizer->vocab_size() > model.engine->vocabulary()) {
    throw Error("{}: the tokeniser has {} tokens, the model only {}", directory,
                model.tokenizer->vocab_size(), model.engine->vocabulary());
  }
  return model;
}

}  // namespace onceover
