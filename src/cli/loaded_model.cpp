#include "cli/loaded_model.h"

#include <set>

#include "analysis/loops.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cli/model_source.h"
#include "cli/quantised_checkpoint.h"
#include "cli/usage.h"
#include "gguf/gguf_file.h"
#include "models/model_file.h"
#include "vocabulary/gguf_tokenizer.h"
#include "vocabulary/open_tokenizer.h"

namespace onceover {
namespace {

// A checkpoint's own folder, of a single file the one that it lies in.
std::filesystem::path folder_of(const ModelFile& file) {
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

// A GGUF file has its tokeniser inside, or else beside it; so llama2.c's .bin, by the name tokenizer.bin.
std::filesystem::path tokenizer_path(const ModelFile& file) {
  const std::filesystem::path folder = folder_of(file), beside = folder / "tokenizer.bin";
  if (file.kind() == "GGUF" && GgufFile(file.path()).contents().metadata.contains("tokenizer.ggml.model"))
    return file.path();
  return file.kind() == "llama2.c" && std::filesystem::exists(beside) ? beside : folder;
}

}  // namespace

LoadedModel load_model(const ModelChoice& choice) {
  const std::string name = choice.path.empty() ? default_model() : choice.path;
  const auto file = std::make_shared<const ModelFile>(name);
  const Plan plan = build(file->config(), Run{choice.loops});
  LoadedModel model{folder_of(*file),
                    "",
                    file->config(),
                    iterations(plan),
                    make_engine(choice.executor, plan, engine_weights(file, plan)),
                    open_tokenizer(choice.tokenizer.empty() ? tokenizer_path(*file)
                                                            : std::filesystem::path(choice.tokenizer))};
  if (file->kind() == "GGUF")
    model.embedded_template = chat_template_of_gguf(GgufFile(file->path()).contents());
  if (model.tokenizer->vocab_size() > model.engine->vocabulary()) {
    throw Error("{}: the tokeniser has {} tokens, the model only {}", name, model.tokenizer->vocab_size(),
                model.engine->vocabulary());
  }
  return model;
}

void add_model_options(CLI::App& app, ModelChoice& choice) {
  app.add_option(
         "--model", choice.path,
         "the model: a folder, a .gguf or a llama2.c .bin; the one that comes with the program when left out")
      ->type_name("PATH");
  app.add_option("--tokenizer", choice.tokenizer,
                 "another tokeniser than the model's own: a folder or file as in onceover tokenize")
      ->type_name("PATH");
  app.add_option("--loops", choice.loops, "how often the repeated layers run, instead of the config's number")
      ->check(whole_number(1, 1024))
      ->type_name("T");
  add_executor_options(app, choice.executor);
  add_inference_options(app, choice.executor);
}

}  // namespace onceover
