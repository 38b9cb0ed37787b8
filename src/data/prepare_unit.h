// The unit of work of prepare_shards(): some consecutive stretches of the corpus, which become one shard of
// each split.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "data/corpus.h"
#include "data/held_out.h"
#include "data/shard_set.h"
#include "text/tokenizer.h"

namespace onceover {

struct Unit {
  CorpusPlace begin;
  uint64_t stretches = 0;
  uint64_t bytes = 0;
};

// Cuts the corpus into units of about `unit_bytes` of text. Reads it once where it has a separator, else only
// its sizes.
std::vector<Unit> plan_units(const Corpus& corpus, uint64_t unit_bytes);

// What a unit left on disk. A split to which it gave no token has no file.
struct UnitResult {
  std::optional<ShardListing> train, held_out;
};

// Tokenises the unit and writes its shards into `folder` under names made of `index`. Thread-safe.
UnitResult write_unit(const Corpus& corpus, const Unit& unit, size_t index, const Tokenizer& tokenizer,
                      const HeldOut& held_out, bool bos, const std::filesystem::path& folder);

// The marker of a finished unit: unit_NNNNN.json. Reading gives nothing when the marker or one of its shards
// is missing or not as it says, so that the unit is done again.
void mark_unit(const std::filesystem::path& folder, size_t index, const UnitResult& result);
std::optional<UnitResult> read_unit_mark(const std::filesystem::path& folder, size_t index);

}  // namespace onceover
