// `onceover quantize`: a model of any kind written as a checkpoint whose weights lie packed, ready for
// inference.
#include <fmt/format.h>

#include "architectures/registry.h"
#include "base/text.h"
#include "cli/copy_tokenizer.h"
#include "cli/quantised_checkpoint.h"
#include "cli/verbs.h"
#include "cpu/inference_weights.h"
#include "models/model_file.h"

namespace onceover {
namespace {

struct QuantizeOptions {
  std::string model, directory, weights = "q8";
};

void quantize(const QuantizeOptions& options) {
  const ModelFile file(options.model);
  const Plan plan = build(file.config());
  const cpu::WeightFormat format = cpu::weight_format(options.weights);
  const std::vector<const StoredWeight*> weights = file.bind(plan);
  CheckpointWriter writer(options.directory, AtomicDirectory::Existing::Refuse);
  const cpu::InferenceWeights packed(
      plan, format, [&](WeightId id) { return weights[static_cast<size_t>(id)]->numbers(); });
  writer.add_config(config_to_json(file.config()).dump(2) + "\n");
  writer.add_weights(packed.tensors());
  copy_tokenizer(file, writer);
  writer.commit(plan.fingerprint(), quantised_state(format));
  fmt::print("{}: {} tensors, {}\n", options.directory, plan.weights.size(),
             format_bytes(static_cast<double>(packed.bytes())));
}

}  // namespace

Action quantize_verb(CLI::App& app) {
  auto options = std::make_shared<QuantizeOptions>();
  app.add_option("model", options->model,
                 "the model to read: a checkpoint directory, a GGUF file, a .bin of llama2.c")
      ->type_name("MODEL")
      ->required();
  app.add_option("directory", options->directory, "the checkpoint directory to make; it must not exist")
      ->type_name("DIRECTORY")
      ->required();
  app.add_option("--weights", options->weights, "format of weights: f32, bf16, f16, q8, q4")
      ->check(CLI::IsMember(cpu::weight_format_names()).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  return [options] { quantize(*options); };
}

}  // namespace onceover
