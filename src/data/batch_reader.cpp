#include "data/batch_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/hex.h"
#include "data/shard_set.h"

namespace onceover {
namespace {

uint64_t count_samples(const TokenStream& stream, const BatchOptions& options) {
  if (options.sequence_length < 1)
    throw Error("batches: sequence_length = {}, expected at least 1", options.sequence_length);
  if (options.samples < 1) throw Error("batches: 0 samples a step, expected at least 1");
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    throw Error("batches: rank {} of {} does not exist", options.rank, options.world);
  }
  const uint64_t samples = (stream.size() - 1) / static_cast<uint64_t>(options.sequence_length);
  if (samples > 0) return samples;
  throw Error("batches: the stream has {} tokens, a sample of sequence_length {} needs {}", stream.size(),
              options.sequence_length, options.sequence_length + 1);
}

void require_same(const nlohmann::json& state, const nlohmann::json& own, const char* key) {
  if (state.at(key) == own.at(key)) return;
  throw Error("batches: the saved place has {} {}, this run has {}: it would mean other samples", key,
              state.at(key).dump(), own.at(key).dump());
}

}  // namespace

BatchReader::BatchReader(std::shared_ptr<const TokenStream> stream, const BatchOptions& options)
    : stream_(std::move(stream)), options_(options), order_(count_samples(*stream_, options), options.seed) {
  if (options_.mask_document_starts) stream_->document_ends(0, 1);  // refuses now what cannot be done later
}

Batch BatchReader::next() {
  Batch batch;
  batch.sequence_length = options_.sequence_length;
  for (uint64_t i = static_cast<uint64_t>(options_.rank); i < options_.samples;
       i += static_cast<uint64_t>(options_.world)) {
    add_row(batch, position_ + i);
  }
  position_ += options_.samples;
  watch_eos(batch);
  return batch;
}

void BatchReader::add_row(Batch& batch, uint64_t global) const {
  const auto length = static_cast<size_t>(options_.sequence_length);
  const uint64_t begin = order_(global) * length;
  batch.samples.push_back(global);
  batch.tokens.resize(batch.tokens.size() + length + 1);
  stream_->read(begin, std::span(batch.tokens).last(length + 1));
  batch.counts.resize(batch.counts.size() + length, 1);
  uint64_t masked = 0;
  if (options_.mask_document_starts) {
    // The token behind a document's end is target number end - begin - 1 of the row.
    for (const uint64_t end : stream_->document_ends(begin, begin + length)) {
      batch.counts[batch.counts.size() - length + (end - begin - 1)] = 0;
      masked++;
    }
  }
  batch.target_tokens += length - masked;
  batch.rows++;
}

void BatchReader::watch_eos(const Batch& batch) {
  if (eos_settled_ || !options_.warn) return;
  constexpr uint64_t enough = 1000000;
  const auto length = static_cast<size_t>(options_.sequence_length);
  for (size_t i = 0; i < batch.counts.size() && stream_->eos(); i++) {
    const int32_t target = batch.tokens[i / length * (length + 1) + i % length + 1];
    if (batch.counts[i] != 0 && target == *stream_->eos()) {
      eos_settled_ = true;
      return;
    }
  }
  targets_seen_ += batch.target_tokens;
  const uint64_t all = order_.samples() * length / static_cast<uint64_t>(options_.world);
  if (stream_->eos() && targets_seen_ < std::min(enough, std::max<uint64_t>(all, 1))) return;
  eos_settled_ = true;
  options_.warn(
      stream_->eos()
          ? fmt::format("<eos> (id {}) does not occur among the first {} targets: the model will not "
                        "learn to stop",
                        *stream_->eos(), targets_seen_)
          : "the token files do not say which id is <eos>: it cannot be checked whether the model will "
            "learn to stop");
}

nlohmann::json BatchReader::state() const {
  return {{"position", position_},
          {"seed", options_.seed},
          {"sequence_length", options_.sequence_length},
          {"data", to_hex(stream_->fingerprint())}};
}

void BatchReader::restore(const nlohmann::json& state) try {
  const auto own = this->state();
  for (const char* key : {"data", "sequence_length", "seed"}) require_same(state, own, key);
  if (!state.at("position").is_number_unsigned())
    throw Error("batches: position {} is no count", state.at("position").dump());
  position_ = state.at("position");
} catch (const nlohmann::json::exception& e) {
  throw Error("batches: the saved place cannot be read: {}", e.what());
}

}  // namespace onceover
