// The tokens of a split as one long row, mapped from disk.
//
// Sources: a folder of our shards (docs/shard-format.md); llm.c's .bin files (256 int32 of header: magic
// 20240520, version 1, count; then uint16 ids); plain uint16 ids as nanoGPT writes them. Headers that do not
// fit their file are an Error, and so is, when it is read, an id outside the vocabulary. Const methods are
// safe to call from several threads.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "data/shard.h"

namespace onceover {

struct TokenStreamOptions {
  std::string split = "train";  // of our shards: "train" or "heldout"
  bool raw_uint16 = false;      // files are plain ids without header
  // For files that do not say them. A vocabulary of 0 means all that uint16 can name.
  int vocab_size = 0;
  std::optional<int> eos;
};

class TokenStream {
 public:
  // One folder of our shards, or files, one behind the other.
  static TokenStream open(const std::vector<std::filesystem::path>& paths,
                          const TokenStreamOptions& options = {});

  uint64_t size() const { return size_; }  // tokens
  int vocab_size() const { return vocab_size_; }
  std::optional<int> eos() const { return eos_; }

  // tokens begin .. begin + out.size() - 1. Error beyond the end.
  void read(uint64_t begin, std::span<int32_t> out) const;

  // Positions p with begin < p <= end such that token p - 1 is the last of a document (its <eos>). Error for
  // files of others, which do not say it.
  std::vector<uint64_t> document_ends(uint64_t begin, uint64_t end) const;

  // Changes with the content. For files of others it covers names' order, sizes, and each first and last MiB.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Segment {
    std::variant<Shard, MappedFile> file;
    uint64_t begin;  // position of its first token
    uint64_t tokens;
    int token_bytes;
    const std::byte* data;

    const std::filesystem::path& path() const;
  };

  void add(Segment segment, uint64_t hash);
  void add_shard(const std::filesystem::path& file);
  void add_foreign(const std::filesystem::path& file, bool raw);
  void open_folder(const std::filesystem::path& folder, const std::string& split);
  size_t segment_at(uint64_t position) const;

  std::vector<Segment> segments_;
  uint64_t size_ = 0, fingerprint_ = 0;
  int vocab_size_ = 0;
  std::optional<int> eos_;
  bool knows_documents_ = true;
};

}  // namespace onceover
