#include "train/swaps_source.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "data/swap_task.h"

namespace onceover {
namespace {

uint64_t fingerprint(const SwapOptions& o) {
  const std::array<uint64_t, 5> what{static_cast<uint64_t>(o.places), o.seed, o.held_out,
                                     static_cast<uint64_t>(o.first_scored),
                                     static_cast<uint64_t>(o.last_scored)};
  return hash64(std::as_bytes(std::span(what)));
}

TokenSource source_of(const SwapOptions& options) {
  TokenSource source;
  source.read = [task = SwapTask(options)](int64_t sequence, std::span<int32_t> inputs,
                                           std::span<int32_t> targets) {
    task.read(sequence, inputs, targets);
  };
  source.sequences = std::numeric_limits<int64_t>::max();
  source.fingerprint = fingerprint(options);
  return source;
}

}  // namespace

TokenSources swaps_sources(const TrainSettings& settings) {
  SwapOptions options;
  options.places = static_cast<int>(settings.swaps.places);
  options.seed = static_cast<uint64_t>(settings.data.seed);
  TokenSources sources;
  sources.vocab_size = SwapTask(options).vocab_size();
  sources.train = source_of(options);
  options.held_out = true;
  options.seed = 0;
  sources.validation = source_of(options);
  const int64_t length = settings.data.sequence_length;
  for (int64_t to = 0; to < length; options.first_scored = to + 1) {
    constexpr int64_t first_range = 4;
    to = std::min(length, std::max(first_range, 2 * to));
    options.last_scored = to;
    sources.probes.push_back({fmt::format("swaps_{}", to), source_of(options)});
  }
  return sources;
}

}  // namespace onceover
