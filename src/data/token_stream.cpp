#include "data/token_stream.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "data/shard_set.h"

namespace onceover {
namespace {

constexpr size_t llmc_header_bytes = 256 * sizeof(int32_t);
constexpr int32_t llmc_magic = 20240520;

bool is_shard(const MappedFile& file) { return file.text().starts_with("ONCETOKS"); }

// Tokens that an llm.c header promises; Error unless exactly they follow.
uint64_t check_llmc(const MappedFile& file) {
  std::array<int32_t, 3> header{};
  const std::string where = file.path().string();
  if (file.size() < llmc_header_bytes)
    throw Error("{}: {} bytes are too few for a header of 1024", where, file.size());
  std::memcpy(header.data(), file.bytes().data(), sizeof header);
  if (header[0] != llmc_magic) {
    throw Error(
        "{}: no token file that is known: it begins with {}, expected 20240520 (llm.c) or ONCETOKS; plain "
        "uint16 "
        "ids are read on request only",
        where, header[0]);
  }
  if (header[1] != 1) throw Error("{}: llm.c token file of version {}, expected 1", where, header[1]);
  const uint64_t found = file.size() - llmc_header_bytes;
  if (header[2] < 0 || found != static_cast<uint64_t>(header[2]) * sizeof(uint16_t)) {
    throw Error("{}: the header promises {} tokens of 2 bytes, the file has {} bytes for them", where,
                header[2], found);
  }
  return static_cast<uint64_t>(header[2]);
}

uint64_t check_raw(const MappedFile& file) {
  if (file.size() % sizeof(uint16_t) == 0) return file.size() / sizeof(uint16_t);
  throw Error("{}: {} bytes are no whole number of uint16 ids", file.path().string(), file.size());
}

uint64_t quick_hash(const MappedFile& file) {
  constexpr size_t part = size_t{1} << 20;
  const auto bytes = file.bytes();
  const uint64_t front = hash64(bytes.first(std::min(part, bytes.size())), bytes.size());
  return hash64(bytes.last(std::min(part, bytes.size())), front);
}

template <class Token>
int32_t copy_tokens(const std::byte* data, std::span<int32_t> out) {
  uint32_t largest = 0;
  for (size_t i = 0; i < out.size(); i++) {
    Token token;
    std::memcpy(&token, data + i * sizeof(Token), sizeof(Token));
    largest = std::max<uint32_t>(largest, token);
    out[i] = static_cast<int32_t>(token);
  }
  return static_cast<int32_t>(std::min<uint32_t>(largest, INT32_MAX));
}

}  // namespace

const std::filesystem::path& TokenStream::Segment::path() const {
  return std::visit([](const auto& any) -> const std::filesystem::path& { return any.path(); }, file);
}

void TokenStream::add(Segment segment, uint64_t hash) {
  segment.begin = size_;
  size_ += segment.tokens;
  fingerprint_ = hash64(fmt::format("{} {}", segment.tokens, hash), fingerprint_);
  segments_.push_back(std::move(segment));
}

void TokenStream::add_shard(const std::filesystem::path& file) {
  Shard shard(file);
  if (vocab_size_ != 0 && shard.vocab_size() != vocab_size_) {
    throw Error("{}: vocabulary of {}, expected {}", file.string(), shard.vocab_size(), vocab_size_);
  }
  vocab_size_ = shard.vocab_size();
  const uint64_t hash = shard.hash();
  Segment segment{std::move(shard), 0, 0, 0, nullptr};
  const Shard& kept = std::get<Shard>(segment.file);
  segment.tokens = kept.size();
  segment.token_bytes = kept.token_bytes();
  segment.data = kept.token_data().data();
  add(std::move(segment), hash);
}

void TokenStream::add_foreign(const std::filesystem::path& file, bool raw) {
  MappedFile mapped(file);
  const uint64_t tokens = raw ? check_raw(mapped) : check_llmc(mapped);
  const std::byte* data = mapped.bytes().data() + (raw ? 0 : llmc_header_bytes);
  const uint64_t hash = quick_hash(mapped);
  add({std::move(mapped), 0, tokens, sizeof(uint16_t), data}, hash);
}

void TokenStream::open_folder(const std::filesystem::path& folder, const std::string& split) {
  const ShardSet set = ShardSet::read(folder);
  for (const auto& listing : set.split(split).shards) {
    add_shard(folder / listing.file);
    const Shard& shard = std::get<Shard>(segments_.back().file);
    if (shard.hash() == listing.hash && shard.size() == listing.tokens) continue;
    throw Error("{}: is not the shard that meta.json names", shard.path().string());
  }
  const auto eos = set.settings.find("eos");
  if (eos != set.settings.end() && eos->is_number_integer()) eos_ = eos->get<int>();
}

TokenStream TokenStream::open(const std::vector<std::filesystem::path>& paths,
                              const TokenStreamOptions& options) {
  TokenStream stream;
  stream.eos_ = options.eos;
  stream.vocab_size_ = options.vocab_size;
  std::error_code unreadable;
  const bool folder = paths.size() == 1 && std::filesystem::is_directory(paths[0], unreadable);
  if (folder) stream.open_folder(paths[0], options.split);
  for (size_t i = 0; !folder && i < paths.size(); i++) {
    if (!options.raw_uint16 && is_shard(MappedFile(paths[i]))) {
      stream.add_shard(paths[i]);
      continue;
    }
    stream.add_foreign(paths[i], options.raw_uint16);
    stream.knows_documents_ = false;
  }
  if (stream.size_ == 0) throw Error("{}: no tokens", paths.empty() ? "token stream" : paths[0].string());
  if (stream.vocab_size_ == 0) stream.vocab_size_ = 65536;
  return stream;
}

size_t TokenStream::segment_at(uint64_t position) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), position,
                                      [](uint64_t p, const Segment& segment) { return p < segment.begin; });
  return static_cast<size_t>(after - segments_.begin()) - 1;
}

void TokenStream::read(uint64_t begin, std::span<int32_t> out) const {
  if (begin > size_ || out.size() > size_ - begin) {
    throw Error("token stream: {} tokens from {} on wanted, there are {}", out.size(), begin, size_);
  }
  for (size_t s = segment_at(begin); !out.empty(); s++) {
    const Segment& segment = segments_[s];
    const uint64_t skip = begin - segment.begin;
    const auto part = out.first(std::min<uint64_t>(out.size(), segment.tokens - skip));
    const std::byte* data = segment.data + skip * static_cast<uint64_t>(segment.token_bytes);
    const int32_t largest =
        segment.token_bytes == 2 ? copy_tokens<uint16_t>(data, part) : copy_tokens<uint32_t>(data, part);
    if (largest >= vocab_size_) {
      throw Error("{}: token id {} between tokens {} and {} of the file, the vocabulary has {}",
                  segment.path().string(), largest, skip, skip + part.size(), vocab_size_);
    }
    begin += part.size();
    out = out.subspan(part.size());
  }
}

std::vector<uint64_t> TokenStream::document_ends(uint64_t begin, uint64_t end) const {
  if (!knows_documents_)
    throw Error("token stream: {} does not say where documents end", segments_[0].path().string());
  std::vector<uint64_t> found;
  for (size_t s = segment_at(begin); s < segments_.size() && segments_[s].begin < end; s++) {
    const Segment& segment = segments_[s];
    const auto ends = std::get<Shard>(segment.file).document_ends();
    const uint64_t skip = begin > segment.begin ? begin - segment.begin : 0;
    for (auto at = std::upper_bound(ends.begin(), ends.end(), skip);
         at != ends.end() && segment.begin + *at <= end; ++at) {
      found.push_back(segment.begin + *at);
    }
  }
  return found;
}

}  // namespace onceover
