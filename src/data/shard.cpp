// A file is: 64 bytes of header; the tokens, little endian; zeros up to a multiple of 8; document ends,
// uint64 each. The hash is XXH3-64 of everything behind the header.
#include "data/shard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/hex.h"

namespace onceover {
namespace {

static_assert(std::endian::native == std::endian::little, "shards are mapped as they lie");

struct Header {
  std::array<char, 8> magic{'O', 'N', 'C', 'E', 'T', 'O', 'K', 'S'};
  uint32_t version = 1;
  uint32_t token_bytes = 0;
  uint64_t vocab_size = 0;
  uint64_t tokens = 0;
  uint64_t documents = 0;
  uint64_t source_bytes = 0;
  uint64_t hash = 0;
  uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 64);

constexpr uint64_t max_tokens = uint64_t{1} << 48;  // keeps every product below 2^63

uint64_t padded_token_bytes(uint64_t tokens, uint64_t token_bytes) {
  return (tokens * token_bytes + 7) / 8 * 8;
}

template <class Token>
std::string packed(const ShardContent& content) {
  std::string body(padded_token_bytes(content.tokens.size(), sizeof(Token)), '\0');
  for (size_t i = 0; i < content.tokens.size(); i++) {
    const auto token = static_cast<Token>(content.tokens[i]);
    std::memcpy(&body[i * sizeof(Token)], &token, sizeof(Token));
  }
  const auto ends = std::as_bytes(std::span(content.document_ends));
  return body.append(reinterpret_cast<const char*>(ends.data()), ends.size());
}

Header read_header(const MappedFile& file) {
  Header header;
  if (file.size() < sizeof header)
    throw Error("{}: {} bytes are too few for a token shard", file.path().string(), file.size());
  std::memcpy(&header, file.bytes().data(), sizeof header);
  return header;
}

void check_header(const Header& header, const MappedFile& file) {
  const auto refuse = [&](const auto& found, const auto& expected) {
    throw Error("{}: not a token shard that this program reads: found {}, expected {}", file.path().string(),
                found, expected);
  };
  if (header.magic != Header{}.magic) refuse("other first bytes", "ONCETOKS");
  if (header.version != 1) refuse(fmt::format("version {}", header.version), "version 1");
  if (header.vocab_size == 0 || header.vocab_size > INT32_MAX)
    refuse(fmt::format("a vocabulary of {}", header.vocab_size), "1 to 2^31 - 1");
  const auto width = static_cast<uint32_t>(token_bytes_for(static_cast<int>(header.vocab_size)));
  if (header.token_bytes != width) refuse(fmt::format("{} bytes a token", header.token_bytes), width);
  if (header.tokens > max_tokens || header.documents > max_tokens)
    refuse("a count of tokens or documents beyond 2^48", "less");
  const uint64_t bytes =
      sizeof header + padded_token_bytes(header.tokens, width) + header.documents * sizeof(uint64_t);
  if (file.size() != bytes)
    refuse(fmt::format("a file of {} bytes", file.size()), fmt::format("{}, as the header says", bytes));
}

}  // namespace

int token_bytes_for(int vocab_size) { return vocab_size <= 65536 ? 2 : 4; }

uint64_t write_shard(const std::filesystem::path& file, const ShardContent& content) {
  Header header;
  header.token_bytes = static_cast<uint32_t>(token_bytes_for(content.vocab_size));
  header.vocab_size = static_cast<uint64_t>(content.vocab_size);
  header.tokens = content.tokens.size();
  header.documents = content.document_ends.size();
  header.source_bytes = content.source_bytes;
  const std::string body = header.token_bytes == 2 ? packed<uint16_t>(content) : packed<uint32_t>(content);
  header.hash = hash64(body);
  AtomicFile out(file);
  out.write(std::as_bytes(std::span(&header, 1)));
  out.write(body);
  out.commit();
  return header.hash;
}

Shard::Shard(const std::filesystem::path& file) : file_(file) {
  const Header header = read_header(file_);
  check_header(header, file_);
  tokens_ = header.tokens;
  documents_ = header.documents;
  source_bytes_ = header.source_bytes;
  hash_ = header.hash;
  vocab_size_ = static_cast<int>(header.vocab_size);
  token_bytes_ = static_cast<int>(header.token_bytes);
  uint64_t before = 0;
  for (const uint64_t end : document_ends()) {
    if (end <= before || end > tokens_)
      throw Error("{}: document ends are not ascending within {} tokens", file.string(), tokens_);
    before = end;
  }
}

std::span<const std::byte> Shard::token_data() const {
  return file_.bytes().subspan(sizeof(Header), tokens_ * static_cast<uint64_t>(token_bytes_));
}

std::span<const uint64_t> Shard::document_ends() const {
  const auto bytes = file_.bytes().subspan(sizeof(Header) +
                                           padded_token_bytes(tokens_, static_cast<uint64_t>(token_bytes_)));
  return {reinterpret_cast<const uint64_t*>(bytes.data()), documents_};  // 8-byte aligned by the format
}

void Shard::verify() const {
  const uint64_t found = hash64(file_.bytes().subspan(sizeof(Header)));
  if (found != hash_)
    throw Error("{}: content has hash {}, the header says {}", path().string(), to_hex(found), to_hex(hash_));
}

}  // namespace onceover
