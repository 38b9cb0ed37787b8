// `onceover convert`: a model of any kind written anew as a checkpoint folder, for use and not for further
// training steps: config, weights in the type asked for, tokeniser. Where transformers knows the model, names
// of tensors and keys of the config are its own, so that it reads the folder.
#include <fmt/format.h>

#include <memory>

#include "architectures/official_config.h"
#include "architectures/registry.h"
#include "base/text.h"
#include "cli/copy_tokenizer.h"
#include "cli/stored_dtype.h"
#include "cli/verbs.h"
#include "models/model_file.h"
#include "models/tensor_form.h"
#include "vocabulary/open_tokenizer.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

struct ConvertOptions {
  std::string model, directory, tokenizer, dtype = "bf16";
};

void convert_checkpoint(const ConvertOptions& options) {
  const ModelFile file(options.model);
  const Config& config = file.config();
  const Plan plan = build(config);
  const DType dtype = stored_dtype(options.dtype);
  require_memory_for(plan, dtype, options.model);
  const std::vector<const StoredWeight*> weights = file.bind(plan);
  const nlohmann::ordered_json official = official_config(config);
  const Naming naming =
      official.is_null() ? Naming{} : huggingface_names(official["model_type"].get<std::string>(), config);
  CheckpointWriter writer(options.directory, AtomicDirectory::Existing::Refuse);
  std::vector<std::vector<std::byte>> stored;
  TensorMap tensors;
  double bytes = 0;
  const auto numbers = [&](WeightId id) { return weights[static_cast<size_t>(id)]->numbers(); };
  for (const TensorForm& form : tensor_forms(naming, plan)) {
    stored.push_back(encode(form.numbers(numbers), dtype));
    tensors[form.name] = {dtype, form.shape, stored.back()};
    bytes += static_cast<double>(stored.back().size());
  }
  writer.add_config((official.is_null() ? config_to_json(config) : official).dump(2) + "\n");
  writer.add_weights(tensors);
  if (options.tokenizer.empty())
    copy_tokenizer(file, writer);
  else
    open_tokenizer(options.tokenizer)->save(writer.folder());
  writer.commit(plan.fingerprint(), nlohmann::json::object());
  fmt::print("{}: {} tensors, {}\n", options.directory, tensors.size(), format_bytes(bytes));
}

}  // namespace

Action convert_verb(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("model", options->model,
                 "the model to read: a checkpoint directory, a GGUF file, a .bin of llama2.c")
      ->type_name("MODEL")
      ->required();
  app.add_option("directory", options->directory, "the checkpoint directory to make; it must not exist")
      ->type_name("DIRECTORY")
      ->required();
  app.add_option("--tokenizer", options->tokenizer,
                 "write this tokeniser beside the weights instead of the model's own: a folder or file as in "
                 "onceover tokenize")
      ->type_name("PATH");
  declare_stored_dtype(app, options->dtype);
  return [options] { convert_checkpoint(*options); };
}

}  // namespace onceover
