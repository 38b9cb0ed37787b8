#include "train/shard_source.h"

#include <algorithm>

#include "base/hash.h"
#include "data/batch_reader.h"
#include "data/shard_set.h"
#include "data/token_stream.h"

namespace onceover {
namespace {

double bytes_per_token(const SplitListing& split) {
  return static_cast<double>(split.source_bytes()) / static_cast<double>(split.tokens());
}

void read_sequence(BatchReader& reader, int64_t sequence, std::span<int32_t> inputs,
                   std::span<int32_t> targets) {
  reader.seek(static_cast<uint64_t>(sequence));
  const Batch batch = reader.next();
  std::copy_n(batch.tokens.begin(), inputs.size(), inputs.begin());
  std::copy_n(batch.tokens.begin() + 1, targets.size(), targets.begin());
  for (size_t i = 0; i < targets.size(); i++) {
    if (batch.counts[i] == 0) targets[i] = -1;
  }
}

TokenSource source_of(const std::shared_ptr<const TokenStream>& stream, const SplitListing& split,
                      const BatchOptions& options) {
  const auto reader = std::make_shared<BatchReader>(stream, options);
  TokenSource source;
  source.read = [reader](int64_t sequence, std::span<int32_t> inputs, std::span<int32_t> targets) {
    read_sequence(*reader, sequence, inputs, targets);
  };
  source.sequences = static_cast<int64_t>(reader->samples_per_epoch());
  source.fingerprint =
      hash64(options.mask_document_starts ? "document starts masked" : "", stream->fingerprint());
  source.bytes_per_token = bytes_per_token(split);
  return source;
}

}  // namespace

TokenSources shard_sources(const TrainSettings& settings,
                           const std::function<void(const std::string&)>& warn) {
  const auto& data = settings.data;
  const ShardSet set = ShardSet::read(data.shards);
  const auto open = [&](const char* split) {
    TokenStreamOptions options;
    options.split = split;
    return std::make_shared<const TokenStream>(TokenStream::open({data.shards}, options));
  };
  BatchOptions options;
  options.sequence_length = static_cast<int>(data.sequence_length);
  options.seed = static_cast<uint64_t>(data.seed);
  options.mask_document_starts = data.mask_document_starts;
  options.warn = warn;
  const auto stream = open("train");
  TokenSources sources{source_of(stream, set.train, options), {}, {}, stream->vocab_size(), stream->eos()};
  options.seed = 0;
  options.warn = {};
  if (set.held_out.tokens() > static_cast<uint64_t>(data.sequence_length)) {
    sources.validation = source_of(open("heldout"), set.held_out, options);
  }
  return sources;
}

}  // namespace onceover
