// `onceover init`: a fresh checkpoint of any model, ready to train or to try things on.
#include "weights/init.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "architectures/registry.h"
#include "base/text.h"
#include "cli/model_source.h"
#include "cli/stored_dtype.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

struct InitOptions {
  std::string model, directory, dtype = "f32";
  uint64_t seed = 0;
};

void init(const InitOptions& options) {
  const Config config = find_model(options.model);
  const DType dtype = stored_dtype(options.dtype);
  const Plan plan = build(config);
  require_memory_for(plan, dtype, options.model);
  CheckpointWriter writer(options.directory, AtomicDirectory::Existing::Refuse);
  std::vector<std::vector<std::byte>> stored;
  TensorMap tensors;
  double bytes = 0;
  for (const WeightSpec& spec : plan.weights) {
    std::vector<float> values(static_cast<size_t>(spec.elements()));
    initialise(spec, options.seed, values);
    stored.push_back(encode(values, dtype));
    tensors[spec.name] = {dtype, spec.shape, stored.back()};
    bytes += static_cast<double>(stored.back().size());
  }
  writer.add_config(config_to_json(config).dump(2) + "\n");
  writer.add_weights(tensors);
  writer.commit(plan.fingerprint(), {{"step", 0}, {"seed", options.seed}});
  fmt::print("{}: {} tensors, {}\n", options.directory, tensors.size(), format_bytes(bytes));
}

}  // namespace

Action init_verb(CLI::App& app) {
  auto options = std::make_shared<InitOptions>();
  app.add_option("model", options->model, "a preset (yoco-u-tiny), a config.json, or a checkpoint directory")
      ->type_name("MODEL")
      ->required();
  app.add_option("directory", options->directory, "the checkpoint directory to make; it must not exist")
      ->type_name("DIRECTORY")
      ->required();
  app.add_option("--seed", options->seed, "the numbers depend on it and on the weights' names alone")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();
  declare_stored_dtype(app, options->dtype);
  return [options] { init(*options); };
}

}  // namespace onceover
