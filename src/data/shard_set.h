// A folder of token shards and its meta.json, which is written last: a folder without it is unfinished.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onceover {

struct ShardListing {
  std::string file;  // in the folder
  uint64_t tokens = 0, documents = 0, source_bytes = 0, hash = 0;
};

struct SplitListing {
  std::vector<ShardListing> shards;  // in the order of the stream

  uint64_t tokens() const;
  uint64_t documents() const;
  uint64_t source_bytes() const;
};

struct ShardSet {
  nlohmann::ordered_json settings;  // all that decided the tokens: docs/shard-format.md
  SplitListing train, held_out;

  static ShardSet read(const std::filesystem::path& folder);
  void write(const std::filesystem::path& folder) const;

  // "train" or "heldout"; Error for another name.
  const SplitListing& split(const std::string& name) const;
};

nlohmann::ordered_json to_json(const ShardListing& shard);

// `where` names the file in errors. What is no plain file name is refused.
ShardListing shard_listing(const nlohmann::json& json, const std::string& where);

}  // namespace onceover
