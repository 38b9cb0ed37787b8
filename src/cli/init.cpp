// `onceover init`: a fresh checkpoint of any model, ready to train or to try things on.
#include "weights/init.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/cost.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/model_source.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

struct InitOptions {
  std::string model, directory, dtype = "f32";
  uint64_t seed = 0;
};

const std::map<std::string, DType> weight_dtypes = {
    {"f32", DType::F32}, {"f16", DType::F16}, {"bf16", DType::BF16}};

// All tensors are in memory when they are written.
void require_memory(double bytes, const std::string& model) {
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 0.8 * machine) {
    throw Error("{}: needs {} of memory for its weights, this machine has {}", model, format_bytes(bytes),
                format_bytes(machine));
  }
}

void init(const InitOptions& options) {
  const Config config = find_model(options.model);
  const DType dtype = weight_dtypes.at(options.dtype);
  const Plan plan = build(config);
  require_memory(static_cast<double>(count_parameters(plan).total) * static_cast<double>(dtype_size(dtype)),
                 options.model);
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
  app.add_option("--dtype", options->dtype, "how weights are stored: f32, bf16, f16")
      ->check(CLI::IsMember(weight_dtypes).description(""))
      ->type_name("TYPE")
      ->capture_default_str();
  return [options] { init(*options); };
}

}  // namespace onceover
