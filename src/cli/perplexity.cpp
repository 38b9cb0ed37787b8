// `onceover perplexity`: how well a checkpoint foretells texts, or the held-out tokens of a training run.
#include "generate/perplexity.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hex.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/loaded_model.h"
#include "cli/quantity.h"
#include "cli/standard_input.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "data/shard_set.h"
#include "data/token_stream.h"
#include "report/progress.h"

namespace onceover {
namespace {

constexpr size_t max_text_bytes = size_t{1} << 30;
constexpr int64_t usual_context = 512;

struct PerplexityFlags {
  std::vector<std::string> texts;
  ModelChoice model;
  std::string shards, against, context, stride;
  int64_t max_tokens = 0;
  bool json = false;
};

// What stands before each text, as in lm-evaluation-harness: bos also where prompts begin without it, for a
// text's first token is foretold from something, and eos parts texts where there is no bos.
std::optional<int> token_before_texts(const Tokenizer& tokenizer) {
  const SpecialTokens& specials = tokenizer.specials();
  return specials.bos ? specials.bos : specials.eos;
}

std::vector<int32_t> tokens_of_texts(const std::vector<std::string>& texts, const Tokenizer& tokenizer) {
  const std::optional<int> before = token_before_texts(tokenizer);
  std::vector<int32_t> tokens;
  for (const std::string& file : texts) {
    const std::string text = file == "-" ? standard_input() : read_text_file(file, max_text_bytes);
    if (before) tokens.push_back(*before);
    const std::vector<int> ids = tokenizer.encode(text);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return tokens;
}

std::vector<int32_t> tokens_of_shards(const std::string& folder, const Tokenizer& tokenizer,
                                      int64_t max_tokens) {
  const nlohmann::ordered_json settings = ShardSet::read(folder).settings;
  const auto made_by = settings.is_object() ? settings.find("tokenizer") : settings.end();
  if (made_by == settings.end() || *made_by != to_hex(tokenizer.fingerprint()))
    throw Error("{}: made by another tokeniser than the model's", folder);
  TokenStreamOptions options;
  options.split = "heldout";
  const TokenStream stream = TokenStream::open({folder}, options);
  uint64_t count = stream.size();
  if (max_tokens > 0) count = std::min(count, static_cast<uint64_t>(max_tokens) + 1);
  std::vector<int32_t> tokens(count);
  stream.read(0, tokens);
  return tokens;
}

// Of the texts behind all tokens but the first: without the space that a tokeniser puts before a text.
double bytes_of(std::span<const int32_t> tokens, const Tokenizer& tokenizer) {
  double bytes = 0;
  bool starts = true;
  for (size_t i = 0; i < tokens.size(); i++) {
    const std::string_view piece =
        tokens[i] < tokenizer.vocab_size() ? tokenizer.piece_bytes(tokens[i]) : std::string_view();
    const bool put = starts && tokenizer.adds_leading_space() && piece.starts_with(' ');
    if (i > 0) bytes += static_cast<double>(piece.size() - (put ? 1 : 0));
    starts = piece.empty();  // a special token stands between texts
  }
  return bytes;
}

void print_losses(const PerplexityFlags& flags, const TokenLosses& losses, double bytes,
                  const std::string& before, int loops) {
  const double bits_per_byte = losses.nats / std::log(2.0) / bytes;
  if (flags.json) {
    nlohmann::ordered_json json = {{"tokens", losses.tokens},        {"bytes", bytes},
                                   {"loss", losses.per_token()},     {"perplexity", losses.perplexity()},
                                   {"bits_per_byte", bits_per_byte}, {"loops", loops}};
    if (flags.shards.empty())
      json["before_each_text"] = before.empty() ? nlohmann::json() : nlohmann::json(before);
    if (!flags.against.empty()) {
      json["divergence"] = losses.divergence / static_cast<double>(losses.tokens);
      json["agreed"] = static_cast<double>(losses.agreed) / static_cast<double>(losses.tokens);
    }
    fmt::print("{}\n", json.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"tokens scored", fmt::format("{}", losses.tokens)},
      {"loss", fmt::format("{:.4f} nats a token", losses.per_token())},
      {"perplexity", fmt::format("{:.4f}", losses.perplexity())},
      {"bits per byte", fmt::format("{:.4f}", bits_per_byte)},
      {"loops", fmt::format("{}", loops)}};
  if (flags.shards.empty())
    rows.push_back({"before each text", before.empty() ? "nothing" : printable(before)});
  fmt::print("{}", format_table(rows));
  if (flags.against.empty()) return;
  const auto tokens = static_cast<double>(losses.tokens);
  fmt::print("{}",
             format_table({{"divergence", fmt::format("{:.6f} nats a token", losses.divergence / tokens)},
                           {"same choice", fmt::format("{:.2f}%", 100 * losses.agreed / tokens)}}));
}

void measure(const PerplexityFlags& flags) {
  if (flags.texts.empty() == flags.shards.empty()) {
    throw Error("expected text files or --shards FOLDER, found {}", flags.texts.empty() ? "neither" : "both");
  }
  const int64_t context = flags.context.empty() ? 0 : parse_tokens(flags.context, "--context");
  const int64_t stride = flags.stride.empty() ? 0 : parse_tokens(flags.stride, "--stride");
  const LoadedModel model = load_model(flags.model);
  PerplexityOptions options;
  options.context = flags.context.empty()
                        ? std::min<int64_t>(usual_context, model.config.max_position_embeddings)
                        : context;
  options.stride = flags.stride.empty() ? options.context : stride;
  if (options.context > model.config.max_position_embeddings) {
    fmt::print(stderr, "warning: --context {} is beyond the model's max_position_embeddings of {}\n",
               options.context, model.config.max_position_embeddings);
  }
  std::optional<LoadedModel> reference;
  if (!flags.against.empty()) {
    ModelChoice against;
    against.path = flags.against;
    against.loops = flags.model.loops;
    against.executor.name = flags.model.executor.name;
    against.executor.device = flags.model.executor.device;
    reference = load_model(against);
  }
  auto tokens = flags.shards.empty() ? tokens_of_texts(flags.texts, *model.tokenizer)
                                     : tokens_of_shards(flags.shards, *model.tokenizer, flags.max_tokens);
  if (flags.max_tokens > 0 && std::ssize(tokens) > flags.max_tokens + 1)
    tokens.resize(static_cast<size_t>(flags.max_tokens) + 1);
  Progress progress({"perplexity", "tokens", std::ssize(tokens) - 1, 0}, Terminal::of(fileno(stderr)));
  const TokenLosses losses = token_losses(
      *model.engine, tokens, options,
      [&](const TokenLosses& so_far) {
        progress.update(so_far.tokens, fmt::format("loss {:.4f}", so_far.per_token()));
        return true;
      },
      reference ? reference->engine.get() : nullptr);
  progress.finish();
  const std::optional<int> before = token_before_texts(*model.tokenizer);
  print_losses(flags, losses, bytes_of(tokens, *model.tokenizer),
               before ? model.tokenizer->token_name(*before) : "", model.loops);
}

}  // namespace

Action perplexity_verb(CLI::App& app) {
  auto flags = std::make_shared<PerplexityFlags>();
  app.add_option(
         "texts", flags->texts,
         "text files, each a document; - reads standard input. Before each stands the tokeniser's bos, "
         "whatever add_bos_token says, or its eos where it has no bos")
      ->type_name("FILE...");
  app.add_option("--shards", flags->shards, "score the held-out tokens of this folder of shards instead")
      ->type_name("FOLDER");
  add_model_options(app, flags->model);
  app.add_option(
         "--context", flags->context,
         "tokens of a window: 512, 8K; 512, or as many as the model's config has when those are fewer, "
         "when left out")
      ->type_name("N");
  app.add_option("--stride", flags->stride,
                 "tokens from one window's start to the next; below the context windows overlap; the context "
                 "when left out")
      ->type_name("N");
  app.add_option("--max-tokens", flags->max_tokens, "score so many tokens at most; 0 = all")
      ->check(whole_number(0, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option(
         "--against", flags->against,
         "another model of the same vocabulary, or the same: how far the model's choices are from its")
      ->type_name("MODEL");
  app.add_flag("--json", flags->json, "for machines");
  return [flags] { measure(*flags); };
}

}  // namespace onceover
