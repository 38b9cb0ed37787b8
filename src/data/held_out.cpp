#include "data/held_out.h"

#include <cmath>

#include "base/error.h"
#include "base/hash.h"

namespace onceover {

void HeldOut::check() const {
  if (!(fraction >= 0 && fraction <= 0.5))
    throw Error("held-out: fraction = {}, expected 0 to 0.5", fraction);
  if (every == 1) throw Error("held-out: every = 1 leaves nothing to train on, expected 0 or at least 2");
  if (every != 0 && fraction != 0) throw Error("held-out: give a fraction or every n-th document, not both");
}

bool HeldOut::holds(std::string_view file_name, uint64_t document_in_file, uint64_t document) const {
  if (every != 0) return document % every == every - 1;
  const uint64_t hash = hash64(fmt::format("{}\n{}", file_name, document_in_file), seed);
  return static_cast<double>(hash >> 11) * 0x1p-53 < fraction;
}

}  // namespace onceover
