// One token shard on disk; docs/shard-format.md has the bytes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/mapped_file.h"

namespace onceover {

// Bytes a token takes in a shard: 2 when every id fits, else 4.
int token_bytes_for(int vocab_size);

struct ShardContent {
  int vocab_size = 0;
  std::vector<int> tokens;  // 0 .. vocab_size - 1
  std::vector<uint64_t>
      document_ends;          // ascending positions after a document's last token, at most tokens.size()
  uint64_t source_bytes = 0;  // of text
};

// Writes atomically and returns the hash that the header holds.
uint64_t write_shard(const std::filesystem::path& file, const ShardContent& content);

// A shard as memory. Opening checks the header against the file's size and the document ends; verify() reads
// all of it. Concurrent reads are safe.
class Shard {
 public:
  explicit Shard(const std::filesystem::path& file);

  uint64_t size() const { return tokens_; }
  int vocab_size() const { return vocab_size_; }
  int token_bytes() const { return token_bytes_; }
  uint64_t hash() const { return hash_; }
  uint64_t source_bytes() const { return source_bytes_; }
  std::span<const std::byte> token_data() const;
  std::span<const uint64_t> document_ends() const;
  const std::filesystem::path& path() const { return file_.path(); }

  // Error unless the content has the header's hash.
  void verify() const;

 private:
  MappedFile file_;
  uint64_t tokens_ = 0, documents_ = 0, source_bytes_ = 0, hash_ = 0;
  int vocab_size_ = 0, token_bytes_ = 0;
};

}  // namespace onceover
