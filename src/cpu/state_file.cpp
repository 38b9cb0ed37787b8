#include "cpu/state_file.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "cpu/kv_type.h"

namespace onceover::cpu {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the file is little-endian, and written as memory is");

constexpr std::array<char, 8> magic = {'O', 'N', 'C', 'E', 'S', 'E', 'Q', '\n'};
constexpr uint32_t version = 1;
constexpr int64_t max_loops = 1024, max_tokens = int64_t{1} << 30;

struct RawHeader {
  std::array<char, 8> magic;
  uint32_t version, kv;
  uint64_t plan, weights;
  int64_t loops, tokens;
  uint64_t contents_hash;
  uint64_t header_hash;  // of the bytes before
};
static_assert(sizeof(RawHeader) == 64);

uint64_t hash_of(const RawHeader& raw) {
  return hash64(std::as_bytes(std::span(&raw, 1)).first(offsetof(RawHeader, header_hash)));
}

void require_range(const std::filesystem::path& path, const char* what, int64_t value, int64_t most) {
  if (value < 0 || value > most)
    throw Error("{}: expected 0 to {} {}, found {}", path.string(), most, what, value);
}

}  // namespace

void write_state(const std::filesystem::path& path, const StateHeader& header,
                 const std::vector<std::span<const std::byte>>& contents) {
  RawHeader raw{magic,
                version,
                static_cast<uint32_t>(header.kv),
                header.plan,
                header.weights,
                header.loops,
                header.tokens,
                0,
                0};
  for (const auto part : contents) raw.contents_hash = hash64(part, raw.contents_hash);
  raw.header_hash = hash_of(raw);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&raw, 1)));
  for (const auto part : contents) file.write(part);
  file.commit();
}

StateFile::StateFile(const std::filesystem::path& path) : file_(path) {
  const std::string name = path.string();
  RawHeader raw{};
  if (file_.size() < sizeof raw)
    throw Error("{}: expected a header of {} bytes, found {}", name, sizeof raw, file_.size());
  std::memcpy(&raw, file_.bytes().data(), sizeof raw);
  if (raw.magic != magic) throw Error("{}: not the state of a sequence", name);
  if (raw.version != version) throw Error("{}: expected version {}, found {}", name, version, raw.version);
  if (raw.header_hash != hash_of(raw)) throw Error("{}: the header is damaged", name);
  require_range(path, "as the type of keys and values", raw.kv, std::ssize(kv_type_names()) - 1);
  require_range(path, "loops", raw.loops, max_loops);
  require_range(path, "tokens", raw.tokens, max_tokens);
  header_ = {static_cast<KvType>(raw.kv), raw.plan, raw.weights, raw.loops, raw.tokens};
  contents_hash_ = raw.contents_hash;
}

void StateFile::require_kv(KvType kv) const {
  if (kv == header_.kv) return;
  throw Error("{}: expected keys and values in {}, found {}", file_.path().string(), kv_type_name(kv),
              kv_type_name(header_.kv));
}

void StateFile::require_weights(uint64_t identity) const {
  if (identity == header_.weights) return;
  throw Error("{}: made with other weights: expected {:016x}, found {:016x}", file_.path().string(), identity,
              header_.weights);
}

void StateFile::require_plan(uint64_t fingerprint) const {
  if (fingerprint == header_.plan) return;
  throw Error("{}: made by another model: expected plan {:016x}, found {:016x}", file_.path().string(),
              fingerprint, header_.plan);
}

void StateFile::require_size(int64_t contents_bytes) const {
  const auto expected = static_cast<int64_t>(sizeof(RawHeader)) + contents_bytes;
  const auto found = static_cast<int64_t>(file_.size());
  if (found != expected) {
    throw Error("{}: expected {} bytes for {} tokens, found {}", file_.path().string(), expected,
                header_.tokens, found);
  }
}

void StateFile::read(const std::vector<std::span<std::byte>>& to) const {
  uint64_t hash = 0;
  size_t at = sizeof(RawHeader);
  for (const auto part : to) {
    const auto from = file_.bytes().subspan(at, part.size());
    std::memcpy(part.data(), from.data(), part.size());
    hash = hash64(std::span<const std::byte>(part), hash);
    at += part.size();
  }
  if (hash != contents_hash_) throw Error("{}: the contents are damaged", file_.path().string());
}

}  // namespace onceover::cpu
