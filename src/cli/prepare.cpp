#include "data/prepare.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/corpus_flags.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "report/progress.h"

namespace onceover {
namespace {

struct PrepareFlags {
  PrepareOptions options;
  std::filesystem::path tokenizer;
  uint64_t shard_mebibytes = 64;
};

void print_split(const char* name, const SplitListing& split) {
  fmt::print("{:<8} {} tokens, {} documents, {} of text, {} shards\n", name,
             format_count(static_cast<double>(split.tokens())), split.documents(),
             format_bytes(static_cast<double>(split.source_bytes())), split.shards.size());
}

void prepare(PrepareFlags& flags) {
  const auto tokenizer = load_tokenizer(flags.tokenizer);
  flags.options.shard_source_bytes = flags.shard_mebibytes << 20;
  std::unique_ptr<Progress> progress;
  flags.options.progress = [&](const PrepareProgress& at) {
    if (!progress) {
      progress =
          std::make_unique<Progress>(Progress::Work{"prepare", "bytes", static_cast<int64_t>(at.bytes_in_all),
                                                    static_cast<int64_t>(at.bytes)},
                                     Terminal::of(2));
    }
    progress->update(static_cast<int64_t>(at.bytes),
                     format_count(static_cast<double>(at.tokens)) + " tokens");
  };
  const ShardSet set = prepare_shards(*tokenizer, flags.options);
  if (progress) progress->finish();
  print_split("train", set.train);
  const HeldOut& held_out = flags.options.held_out;
  if (held_out.fraction > 0 || held_out.every > 0) print_split("heldout", set.held_out);
}

}  // namespace

Action prepare_verb(CLI::App& app) {
  auto flags = std::make_shared<PrepareFlags>();
  PrepareOptions& options = flags->options;
  declare_corpus_flags(app, options.corpus);
  app.add_option("--tokenizer", flags->tokenizer, "the tokeniser's folder")->required()->type_name("DIR");
  app.add_option("--output", options.output, "the folder for the shards")->required()->type_name("DIR");
  app.add_option("--held-out", options.held_out.fraction, "share of documents to hold out, 0 to 0.5")
      ->type_name("SHARE");
  app.add_option("--held-out-every", options.held_out.every, "or hold out every n-th document")
      ->check(whole_number())
      ->type_name("N");
  app.add_option("--held-out-seed", options.held_out.seed, "another choice of documents")
      ->check(whole_number())
      ->type_name("SEED");
  app.add_flag("--bos", options.bos, "begin every document with <bos>");
  app.add_option("--shard-mebibytes", flags->shard_mebibytes, "of text in a shard")
      ->check(whole_number(1, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "0 = one for each core")
      ->check(whole_number(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--restart", options.restart, "remove shards that are there, instead of going on");
  return [flags] { prepare(*flags); };
}

}  // namespace onceover
