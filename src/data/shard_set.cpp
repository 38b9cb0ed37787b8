#include "data/shard_set.h"

#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_name.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "onceover-shards";
constexpr size_t max_meta_bytes = size_t{256} << 20;

uint64_t sum(const std::vector<ShardListing>& shards, uint64_t ShardListing::*part) {
  return std::accumulate(shards.begin(), shards.end(), uint64_t{0},
                         [part](uint64_t so_far, const ShardListing& shard) { return so_far + shard.*part; });
}

Json split_json(const SplitListing& split) {
  Json shards = Json::array();
  for (const auto& shard : split.shards) shards.push_back(to_json(shard));
  return {{"tokens", split.tokens()},
          {"documents", split.documents()},
          {"source_bytes", split.source_bytes()},
          {"shards", shards}};
}

SplitListing read_split(const nlohmann::json& meta, const char* name, const std::string& where) {
  SplitListing split;
  for (const auto& shard : meta.at(name).at("shards")) split.shards.push_back(shard_listing(shard, where));
  return split;
}

}  // namespace

uint64_t SplitListing::tokens() const { return sum(shards, &ShardListing::tokens); }
uint64_t SplitListing::documents() const { return sum(shards, &ShardListing::documents); }
uint64_t SplitListing::source_bytes() const { return sum(shards, &ShardListing::source_bytes); }

Json to_json(const ShardListing& shard) {
  return {{"file", shard.file},
          {"tokens", shard.tokens},
          {"documents", shard.documents},
          {"source_bytes", shard.source_bytes},
          {"hash", to_hex(shard.hash)}};
}

ShardListing shard_listing(const nlohmann::json& json, const std::string& where) try {
  const auto count = [&](const char* key) {
    if (!json.at(key).is_number_unsigned()) throw Error("{}: a shard's {} must be a count", where, key);
    return json.at(key).get<uint64_t>();
  };
  ShardListing shard{json.at("file"), count("tokens"), count("documents"), count("source_bytes"),
                     from_hex(json.at("hash").get_ref<const std::string&>(), where)};
  require_plain_file_name(shard.file, where);
  return shard;
} catch (const nlohmann::json::exception& e) {
  throw Error("{}: not the listing of a shard: {}", where, e.what());
}

ShardSet ShardSet::read(const std::filesystem::path& folder) {
  const auto path = folder / "meta.json";
  const std::string where = path.string();
  const auto meta = parse_json(read_text_file(path, max_meta_bytes), where);
  try {
    if (meta.at("format") != format_name || meta.at("version") != 1) {
      throw Error("{}: expected format {} version 1, found {} version {}", where, format_name,
                  meta.at("format").dump(), meta.at("version").dump());
    }
    return {meta.at("settings"), read_split(meta, "train", where), read_split(meta, "heldout", where)};
  } catch (const nlohmann::json::exception& e) {
    throw Error("{}: not the description of token shards: {}", where, e.what());
  }
}

void ShardSet::write(const std::filesystem::path& folder) const {
  const Json meta = {{"format", format_name},
                     {"version", 1},
                     {"settings", settings},
                     {"train", split_json(train)},
                     {"heldout", split_json(held_out)}};
  write_text_file(folder / "meta.json", meta.dump(2) + "\n");
}

const SplitListing& ShardSet::split(const std::string& name) const {
  if (name == "train") return train;
  if (name == "heldout") return held_out;
  throw Error("token shards have the splits 'train' and 'heldout', not '{}'", name);
}

}  // namespace onceover
