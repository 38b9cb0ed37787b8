// From text to token shards: `onceover prepare`.
//
// Every document's tokens are followed by <eos>; documents are packed one behind the other in corpus order,
// so the shards of a split are one stream. The tokens depend on the corpus, the tokeniser and the settings,
// never on the number of threads or on how often the work was interrupted.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "data/corpus.h"
#include "data/held_out.h"
#include "data/shard_set.h"
#include "text/tokenizer.h"

namespace onceover {

struct PrepareProgress {
  uint64_t bytes = 0, bytes_in_all = 0;  // of text
  uint64_t tokens = 0, documents = 0;
  size_t units = 0, units_in_all = 0;
  size_t units_resumed = 0;  // done by an earlier run
};

struct PrepareOptions {
  CorpusOptions corpus;
  std::filesystem::path output;  // a folder, created if missing
  HeldOut held_out;
  bool bos = false;                                  // put <bos> before every document
  uint64_t shard_source_bytes = uint64_t{64} << 20;  // of text per shard, 1 MiB at least, but for tests
  int threads = 0;                                   // 0 = one a core
  bool restart =
      false;  // remove shards of other settings, or unfinished ones, instead of refusing or continuing
  std::function<void(const PrepareProgress&)> progress;  // after each unit, from one thread at a time
};

// Does the work, or what is left of it: finished units are kept over a kill or a power cut and found again. A
// folder with shards of other settings is refused, and so is one where another process prepares. A complete
// folder is left as it is. Saves the tokeniser into the folder too. meta.json is written last.
ShardSet prepare_shards(const Tokenizer& tokenizer, const PrepareOptions& options);

}  // namespace onceover
