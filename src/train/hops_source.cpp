#include "train/hops_source.h"

#include <array>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "data/multi_hop_task.h"

namespace onceover {
namespace {

uint64_t fingerprint(const MultiHopOptions& o) {
  const std::array<uint64_t, 5> what{static_cast<uint64_t>(o.nodes), static_cast<uint64_t>(o.max_hops),
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
  options.nodes = static_cast<int>(settings.hops.nodes);
  options.max_hops = static_cast<int>(settings.hops.max_hops);
  options.seed = static_cast<uint64_t>(settings.data.seed);
  const MultiHopTask task(options);
  const int64_t length = settings.data.sequence_length;
  if (length < task.least_length() || length > task.most_length()) {
    throw Error("data.sequence_length must be from {} to {} for {} nodes, found {}", task.least_length(),
                task.most_length(), options.nodes, length);
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
