// `onceover generate`: text from a checkpoint, as it comes.
#include "generate/generate.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "cli/loaded_model.h"
#include "cli/sampling.h"
#include "cli/standard_input.h"
#include "cli/usage.h"
#include "cli/verbs.h"

namespace onceover {
namespace {

constexpr size_t max_prompt_bytes = size_t{1} << 30;

struct GenerateFlags {
  ModelChoice model;
  std::string prompt, prompt_file;
  bool quiet = false;
  GenerateRequest request;
};

std::string prompt_text(const GenerateFlags& flags) {
  if (flags.prompt == "-") return standard_input();
  if (flags.prompt_file.empty()) return flags.prompt;
  return read_text_file(flags.prompt_file, max_prompt_bytes);
}

void generate_text(GenerateFlags flags) {
  const std::string prompt = prompt_text(flags);
  LoadedModel model = load_model(flags.model);
  const SpecialTokens& specials = model.tokenizer->specials();
  if (specials.bos && specials.adds_bos) flags.request.prompt.push_back(*specials.bos);
  const std::vector<int> ids = model.tokenizer->encode(prompt);
  flags.request.prompt.insert(flags.request.prompt.end(), ids.begin(), ids.end());
  flags.request.position = ids.empty() ? TextPosition::Start : TextPosition::Inside;
  flags.request.context = model.config.max_position_embeddings;
  // Documents are packed end to end, so the end token is also what stands before a text.
  if (flags.request.prompt.empty() && specials.eos) flags.request.prompt.push_back(*specials.eos);
  const auto show = [](const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  };
  if (std::ssize(flags.request.prompt) > model.config.max_position_embeddings) {
    throw Error("the prompt has {} tokens, the model's max_position_embeddings is {}",
                flags.request.prompt.size(), model.config.max_position_embeddings);
  }
  if (!show(prompt)) throw Error("standard output: cannot be written");
  const GenerateResult result = generate(*model.engine, *model.tokenizer, flags.request, show);
  show("\n");
  if (flags.quiet) return;
  const auto rate = [](size_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
  };
  const auto kv_bytes = model.engine->kv_bytes();
  fmt::print(
      stderr,
      "prompt {} tokens, {:.1f} tokens/s; generated {} tokens, {:.1f} tokens/s; ended by {}; loops {}; seed "
      "{}{}\n",
      flags.request.prompt.size(), rate(flags.request.prompt.size(), result.prompt_seconds),
      result.tokens.size(), rate(result.tokens.size(), result.seconds), finish_name(result.finish),
      model.loops, flags.request.sampler.seed,
      kv_bytes ? fmt::format("; keys and values {}", format_bytes(static_cast<double>(*kv_bytes))) : "");
}

}  // namespace

Action generate_verb(CLI::App& app) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::Option* prompt =
      app.add_option("prompt", flags->prompt, "the text to continue; - reads standard input")
          ->type_name("PROMPT");
  app.add_option("--prompt-file", flags->prompt_file, "the text to continue, from a file")
      ->excludes(prompt)
      ->type_name("FILE");
  add_model_options(app, flags->model);
  add_sampling_options(app, flags->request);
  app.add_flag("--ignore-eos", flags->request.ignore_eos, "go on after the end token");
  app.add_flag("--quiet", flags->quiet, "no statistics at the end");
  return [flags] { generate_text(*flags); };
}

}  // namespace onceover
