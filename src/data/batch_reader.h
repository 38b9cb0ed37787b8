// Batches for training, in an order that neither a restart nor the number of processes changes.
//
// Sample i of the stream is tokens i*S .. i*S + S (S + 1 of them: inputs and, shifted by one, targets), so
// every token but the first is a target once an epoch; at the end up to S tokens that fill no sample are left
// out. A step takes `samples` of them: global numbers p .. p + samples - 1, of which rank r takes p + r, p +
// r + world, … The union over ranks is the same for every world size. The position after a step is one
// number.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/sample_order.h"
#include "data/token_stream.h"

namespace onceover {

struct BatchOptions {
  int sequence_length = 0;  // S
  uint64_t samples = 1;     // per step, over all ranks
  uint64_t seed = 0;
  int rank = 0, world = 1;
  // Targets that are a document's first token, to be guessed from the document before, do not count. By
  // position: an <eos> target always counts.
  bool mask_document_starts = false;
  // Told once, in words, when the stream has no <eos> or it did not occur among the first million targets (or
  // epoch) read by this rank: a model trained on such targets never stops.
  std::function<void(const std::string&)> warn;
};

struct Batch {
  int rows = 0, sequence_length = 0;
  std::vector<int32_t> tokens;    // [rows, S + 1]
  std::vector<uint8_t> counts;    // [rows, S]: 1 where the target counts in the loss
  std::vector<uint64_t> samples;  // [rows] global numbers
  uint64_t target_tokens = 0;     // how many count: the loss of a step is divided by their sum over all ranks
};

class BatchReader {
 public:
  BatchReader(std::shared_ptr<const TokenStream> stream, const BatchOptions& options);

  // This rank's part of the next step. May have 0 rows when samples < world.
  Batch next();

  // Global number of the next step's first sample. Any number is a place to go on from.
  uint64_t position() const { return position_; }
  uint64_t epoch() const { return order_.epoch(position_); }
  uint64_t samples_per_epoch() const { return order_.samples(); }
  void seek(uint64_t position) { position_ = position; }

  // For a checkpoint. restore() goes to the same place, under any rank, world and batch size, and refuses
  // with the reason when stream, sequence length or seed differ, since then the place means other samples.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  void add_row(Batch& batch, uint64_t global) const;
  void watch_eos(const Batch& batch);

  std::shared_ptr<const TokenStream> stream_;
  BatchOptions options_;
  SampleOrder order_;
  uint64_t position_ = 0;
  uint64_t targets_seen_ = 0;  // until an <eos> or the warning
  bool eos_settled_ = false;
};

}  // namespace onceover
