// Any bytes as the saved state of a sequence: refused with an Error, or a sequence that saves as the same
// bytes and goes on. The plan, the weights and the hashes that the format asks for are filled in where they
// are 0, or no input would get past them.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/hash.h"
#include "bytes_as_file.h"
#include "cpu/batch_engine.h"
#include "small_model.h"

namespace onceover {
namespace sequence_state {

constexpr size_t kv_at = 12, plan_at = 16, weights_at = 24, loops_at = 32, contents_hash_at = 48,
                 header_hash_at = 56, header_bytes = 64;

template <class T>
T number(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

inline void fill_in(std::string& bytes, size_t at, uint64_t value) {
  if (number<uint64_t>(bytes, at) == 0) std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Every slot of the small model has pages of this many bytes.
inline int64_t page_bytes(KvType kv) { return kernels::PageLayout{8, 8, kv, false}.page_bytes(); }

inline uint64_t contents_hash(const std::string& bytes, KvType kv) {
  const auto page = static_cast<size_t>(page_bytes(kv));
  uint64_t hash = 0;
  for (std::string_view rest = std::string_view(bytes).substr(header_bytes); !rest.empty();
       rest.remove_prefix(std::min(page, rest.size())))
    hash = hash64(rest.substr(0, page), hash);
  return hash;
}

inline std::string save(cpu::BatchEngine& engine, cpu::SequenceId id) {
  static const std::string path = "/dev/shm/onceover_fuzz_" + std::to_string(getpid());
  engine.save(id, path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove(path);
  return bytes;
}

inline void read(std::string bytes) {
  static const auto plan_at_depth = [](int loops) { return build(small_config(), Run{loops}); };
  static const auto weights = cpu::InferenceWeights::random(plan_at_depth(0), cpu::WeightFormat::F32);
  KvType kv = KvType::F32;
  if (bytes.size() >= header_bytes) {
    kv = static_cast<KvType>(number<uint32_t>(bytes, kv_at) % 3);
    const auto loops = number<int64_t>(bytes, loops_at);
    if (loops >= 0 && loops <= 8)
      fill_in(bytes, plan_at, plan_at_depth(static_cast<int>(loops)).fingerprint());
    fill_in(bytes, weights_at, weights->identity());
    fill_in(bytes, contents_hash_at, contents_hash(bytes, kv));
    fill_in(bytes, header_hash_at, hash64(std::string_view(bytes).substr(0, header_hash_at)));
  }
  cpu::BatchEngine engine(plan_at_depth, weights, {.kv = kv, .max_kv_bytes = 1 << 20});
  const cpu::SequenceId id = engine.restore(path_of(bytes.data(), bytes.size()));
  if (save(engine, id) != bytes) throw std::logic_error("a state saves as other bytes than it was read from");
  const int32_t token = 1;
  const cpu::BatchEngine::Part part{id, {&token, 1}};
  engine.run({&part, 1});
}

}  // namespace sequence_state
}  // namespace onceover
