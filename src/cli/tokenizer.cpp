#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/new_folder.h"
#include "cli/corpus_flags.h"
#include "cli/standard_input.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "data/train_tokenizer.h"
#include "text/byte_tokenizer.h"
#include "vocabulary/open_tokenizer.h"

namespace onceover {
namespace {

struct TokenizerOptions {
  TokenizerTraining training;
  uint64_t max_mebibytes = 64;
  std::filesystem::path folder;  // of an existing tokeniser, or for a byte tokeniser
};

void declare_train(CLI::App& app, TokenizerOptions& o) {
  declare_corpus_flags(app, o.training.corpus);
  app.add_option("--output", o.training.output, "the folder to write tokenizer.model to")
      ->required()
      ->type_name("DIR");
  app.add_option("--vocab-size", o.training.settings.vocab_size, "tokens at most, the 256 bytes included")
      ->check(whole_number(300, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--character-coverage", o.training.settings.character_coverage,
                 "share of the characters that get a token, 0.98 to 1; the others become bytes")
      ->type_name("SHARE")
      ->capture_default_str();
  app.add_option("--max-mebibytes", o.max_mebibytes, "text to train on; more is thinned evenly")
      ->check(whole_number(1, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str();
  app.add_option("--threads", o.training.settings.threads, "threads of the trainer")
      ->check(whole_number(1, 128))
      ->type_name("N")
      ->capture_default_str();
}

void train(TokenizerOptions& o) {
  o.training.max_bytes = o.max_mebibytes << 20;
  const auto tokenizer = train_tokenizer(o.training);
  fmt::print("{} tokens in {}\n", tokenizer->vocab_size(), o.training.output.string());
}

void make_byte_tokenizer(const TokenizerOptions& o) {
  const NewFolder folder(o.folder);
  const ByteTokenizer tokenizer;
  tokenizer.save(o.folder);
  fmt::print("{} tokens in {}\n", tokenizer.vocab_size(), o.folder.string());
}

void encode(const TokenizerOptions& o) {
  const std::string text = standard_input();
  fmt::print("{}\n", fmt::join(open_tokenizer(o.folder)->encode(text), " "));
}

void decode(const TokenizerOptions& o) {
  std::istringstream input(standard_input());
  const auto tokenizer = open_tokenizer(o.folder);
  const std::vector<int> ids{std::istream_iterator<int>(input), {}};
  if (!input.eof()) throw Error("tokenizer decode: expected token ids and blanks only");
  const std::string text = tokenizer->decode(ids);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error("standard output: cannot be written");
}

}  // namespace

Action tokenizer_verb(CLI::App& app) {
  auto options = std::make_shared<TokenizerOptions>();
  app.require_subcommand(1);
  declare_train(
      *app.add_subcommand("train", "train a SentencePiece BPE tokeniser that gives every text back"),
      *options);
  const auto with_folder = [&](const char* name, const char* summary) {
    app.add_subcommand(name, summary)
        ->add_option("folder", options->folder, "the tokeniser's folder")
        ->required()
        ->type_name("DIR");
  };
  with_folder("bytes", "write a byte tokeniser: a token for each byte, <bos>, <eos> and <pad>");
  with_folder("encode", "print the token ids of the text on standard input");
  with_folder("decode", "print the text of the token ids on standard input");
  return [&app, options] {
    if (app.got_subcommand("train")) train(*options);
    if (app.got_subcommand("bytes")) make_byte_tokenizer(*options);
    if (app.got_subcommand("encode")) encode(*options);
    if (app.got_subcommand("decode")) decode(*options);
  };
}

}  // namespace onceover
