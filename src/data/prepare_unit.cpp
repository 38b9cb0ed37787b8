#include "data/prepare_unit.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "data/shard.h"

namespace onceover {
namespace {

// Adds a stretch's tokens, and <bos> and <eos> at its document's borders.
void append(ShardContent& content, const Stretch& stretch, const Tokenizer& tokenizer, bool bos) {
  const SpecialTokens specials = tokenizer.specials();
  if (stretch.starts_document && bos) content.tokens.push_back(specials.bos.value());
  tokenizer.encode(stretch.text, stretch.starts_document ? TextPosition::Start : TextPosition::Inside,
                   content.tokens);
  content.source_bytes += stretch.text.size();
  if (!stretch.ends_document) return;
  content.tokens.push_back(specials.eos.value());
  content.document_ends.push_back(content.tokens.size());
}

std::optional<ShardListing> write_split(const std::filesystem::path& folder, const std::string& name,
                                        const ShardContent& content) {
  if (content.tokens.empty()) return {};
  const uint64_t hash = write_shard(folder / name, content);
  return ShardListing{name, content.tokens.size(), content.document_ends.size(), content.source_bytes, hash};
}

std::optional<ShardListing> read_marked(const std::filesystem::path& folder, const nlohmann::json& mark,
                                        const char* split, const std::string& where) {
  if (!mark.contains(split)) return {};
  const ShardListing listing = shard_listing(mark.at(split), where);
  const Shard shard(folder / listing.file);
  if (shard.size() == listing.tokens && shard.hash() == listing.hash) return listing;
  throw Error("{}: {} is another shard", where, listing.file);
}

std::filesystem::path unit_mark_path(const std::filesystem::path& folder, size_t index) {
  return folder / fmt::format("unit_{:05}.json", index);
}

}  // namespace

std::vector<Unit> plan_units(const Corpus& corpus, uint64_t unit_bytes) {
  std::vector<Unit> units;
  CorpusReader reader(corpus);
  CorpusPlace before = reader.place();
  for (Stretch stretch; reader.next(stretch); before = reader.place()) {
    if (units.empty() || units.back().bytes >= unit_bytes) units.push_back({before, 0, 0});
    units.back().stretches++;
    units.back().bytes += stretch.text.size();
  }
  return units;
}

UnitResult write_unit(const Corpus& corpus, const Unit& unit, size_t index, const Tokenizer& tokenizer,
                      const HeldOut& held_out, bool bos, const std::filesystem::path& folder) {
  ShardContent train{tokenizer.vocab_size(), {}, {}, 0}, held{tokenizer.vocab_size(), {}, {}, 0};
  CorpusReader reader(corpus, unit.begin);
  Stretch stretch;
  for (uint64_t i = 0; i < unit.stretches; i++) {
    if (!reader.next(stretch)) throw Error("{}: the corpus ended early: it changed", folder.string());
    const bool is_held =
        held_out.holds(corpus.files[stretch.file].name, stretch.document_in_file, stretch.document);
    append(is_held ? held : train, stretch, tokenizer, bos);
  }
  return {write_split(folder, fmt::format("train_{:05}.bin", index), train),
          write_split(folder, fmt::format("heldout_{:05}.bin", index), held)};
}

void mark_unit(const std::filesystem::path& folder, size_t index, const UnitResult& result) {
  nlohmann::ordered_json mark = nlohmann::ordered_json::object();
  if (result.train) mark["train"] = to_json(*result.train);
  if (result.held_out) mark["heldout"] = to_json(*result.held_out);
  write_text_file(unit_mark_path(folder, index), mark.dump() + "\n");
}

std::optional<UnitResult> read_unit_mark(const std::filesystem::path& folder, size_t index) try {
  const auto path = unit_mark_path(folder, index);
  const auto mark = parse_json(read_text_file(path, 65536), path.string());
  return UnitResult{read_marked(folder, mark, "train", path.string()),
                    read_marked(folder, mark, "heldout", path.string())};
} catch (const Error&) {
  return {};
}

}  // namespace onceover
