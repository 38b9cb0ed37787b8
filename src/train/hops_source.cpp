#include "train/hops_source.h"

#include <array>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "data/multi_hop_task.h"

namespace onceover {
namespace {

uint64_t fingerprint(const MultiHopOptions& o) {
  const std::array<uint64_t, 5> what{static_cast<uint64_t>(o.chains), static_cast<uint64_t>(o.max_hops),
                                     o.seed, o.held_out, static_cast<uint64_t>(o.only_hops)};
  return hash64(std::as_bytes(std::span(what)));
}

TokenSource source_of(const MultiHopOptions& options) {
  TokenSource source;
  source.read = [task = MultiHopTask(options)](int64_t sequence, std::span<int32_t> inputs,
                                               std::span<int32_t> targets) {
    task.read(sequence, inputs, targets);
  };
  source.sequences = std::numeric_limits<int64_t>::max();
  source.fingerprint = fingerprint(options);
  return source;
}

}  // namespace

TokenSources hops_sources(const TrainSettings& settings) {
  MultiHopOptions options;
  options.chains = static_cast<int>(settings.hops.chains);
  options.max_hops = static_cast<int>(settings.hops.max_hops);
  options.seed = static_cast<uint64_t>(settings.data.seed);
  const MultiHopTask task(options);
  if (settings.data.sequence_length != task.length()) {
    throw Error("data.sequence_length must be {} for {} chains of {} nodes, found {}", task.length(),
                options.chains, options.max_hops + 1, settings.data.sequence_length);
  }
  TokenSources sources;
  sources.vocab_size = task.vocab_size();
  sources.train = source_of(options);
  options.held_out = true;
  options.seed = 0;
  sources.validation = source_of(options);
  for (int hops = 1; hops <= options.max_hops; hops++) {
    options.only_hops = hops;
    sources.probes.push_back({fmt::format("hops_{}", hops), source_of(options)});
  }
  return sources;
}

}  // namespace onceover
