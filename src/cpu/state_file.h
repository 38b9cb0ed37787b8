// The state of one sequence as a file; docs/state-format.md has every byte.
//
// Written atomically. Reading trusts nothing: the header has a checksum of its own, the size must be what the
// plan makes of the header's numbers, and the contents have a checksum. Every Error names the file.
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "base/mapped_file.h"
#include "cpu/kernels/page.h"

namespace onceover::cpu {

struct StateHeader {
  KvType kv;
  uint64_t plan, weights;  // fingerprint of the plan, hash of the weights
  int64_t loops;           // as asked for: 0 = the config's
  int64_t tokens;
};

void write_state(const std::filesystem::path& path, const StateHeader& header,
                 const std::vector<std::span<const std::byte>>& contents);

class StateFile {
 public:
  // Error unless it begins with a sound header of this version.
  explicit StateFile(const std::filesystem::path& path);

  const StateHeader& header() const { return header_; }

  // Errors when the file is not for this.
  void require_kv(KvType) const;
  void require_weights(uint64_t identity) const;
  void require_plan(uint64_t fingerprint) const;
  void require_size(int64_t contents_bytes) const;

  // Fills `to`, which are require_size() bytes together. Error when the contents are damaged.
  void read(const std::vector<std::span<std::byte>>& to) const;

 private:
  MappedFile file_;
  StateHeader header_{};
  uint64_t contents_hash_ = 0;
};

}  // namespace onceover::cpu
