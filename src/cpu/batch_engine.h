// Inference on the CPU for many sequences: any plan, at any depth, each sequence with the state that the
// analysis derives from the plan.
//
// One call takes tokens of many sequences, at different positions and of different depths. It computes only
// the rows that are demanded: of a prompt, layers that feed nothing but the logits run the rows whose logits
// are asked for. Tokens are taken in pieces of at most chunk_tokens for each sequence, so scratch memory does
// not grow with a prompt; results do not depend on the pieces beyond rounding. The logits of a sequence are
// the same bits whatever other sequences the call holds, in whatever place, with any number of threads: its
// own pieces decide how it is computed. A depth is the number of loops; all share the weights. Not
// thread-safe; kernels use OpenMP's threads.
#pragma once
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "cpu/batch_pass.h"
#include "cpu/inference_weights.h"
#include "cpu/kv_type.h"
#include "execution/training_executor.h"

namespace onceover::cpu {

struct EngineOptions {
  int64_t chunk_tokens = 256;  // 1 to 2^30
  KvType kv = KvType::F32;
  // Keys, values and retention matrices of all sequences.
  int64_t max_kv_bytes = std::numeric_limits<int64_t>::max();
  // Rows that windows keep beyond those they show, so that truncate() can go so far back; at most
  // 2^30.
  int64_t spare_rows = 0;
};

using SequenceId = int64_t;

class BatchEngine {
 public:
  // Error when the weights are not those of the plan, or an option is out of range.
  BatchEngine(PlanAtDepth plan_at_depth, std::shared_ptr<const InferenceWeights> weights,
              const EngineOptions& options = {});

  int vocabulary() const { return vocabulary_; }

  // Every function that takes a SequenceId: Error when it is not open.
  SequenceId open(int loops = 0);  // 0 = the config's
  SequenceId fork(SequenceId);     // shares the pages of the state until either writes
  void close(SequenceId);
  // Forgets the tokens from `tokens` on. Error, with the state unchanged, where a window no longer holds what
  // the next token sees, and for retention, whose state cannot go back but to 0.
  void truncate(SequenceId, int64_t tokens);

  struct Part {
    SequenceId sequence;
    std::span<const int32_t> tokens;  // at least one
    int64_t logit_rows = 1;           // the last so many tokens get logits
  };
  // Appends the tokens of each part. Returns the logits, [rows asked for, vocabulary], part after part, valid
  // until the next call. Error, with every state unchanged, for a token outside the vocabulary, a sequence
  // that occurs twice, logit_rows out of range, or more bytes than max_kv_bytes. Where memory for anything
  // else runs out (std::bad_alloc) the sequences of the call are torn: all they can do is be closed.
  std::span<const float> run(std::span<const Part> parts);

  // Appends the state of so many tokens without running the model: keys, values and matrices are zeros. For
  // measuring at a depth. Error as run().
  void pretend(SequenceId, int64_t tokens);

  int64_t tokens(SequenceId) const;
  int loops(SequenceId) const;  // iterations that its tokens pass
  const Plan& plan(SequenceId) const;
  const Analysis& analysis(SequenceId) const;

  // Bytes resident for a sequence, by slot of analysis(); pages that it shares with others count in full.
  std::vector<int64_t> slot_bytes(SequenceId) const;
  int64_t kv_bytes(SequenceId) const;
  int64_t kv_bytes() const;       // of all sequences, shared pages once
  int64_t kv_held_bytes() const;  // the same, and the pages kept for the next taker
  // Rows of layers' outputs computed so far: layers x tokens, fewer where rows are not demanded.
  int64_t layer_rows() const { return layer_rows_; }

  // A sequence's state as a file (docs/state-format.md).
  void save(SequenceId, const std::filesystem::path&) const;
  // A new sequence from it. Error for another model, other weights, another KvType and damage, naming the
  // file, and for more bytes than max_kv_bytes.
  SequenceId restore(const std::filesystem::path&);

 private:
  struct Sequence {
    DepthPlan* plan;
    int asked_loops;
    SequenceState state;
    bool torn = false;
  };
  struct Progress;

  DepthPlan& at_depth(int loops);
  const Sequence& find(SequenceId) const;
  Sequence& find(SequenceId id) { return const_cast<Sequence&>(std::as_const(*this).find(id)); }
  SequenceId add(Sequence sequence);
  void check(std::span<const Part> parts) const;
  // Error when `bytes` more would be beyond max_kv_bytes.
  void make_room(int64_t bytes);
  void run_pass(DepthPlan& plan, std::vector<Progress>& work);
  uint64_t weights_identity() const;

  PlanAtDepth plan_at_depth_;
  EngineOptions options_;
  std::shared_ptr<const InferenceWeights> weights_;
  std::map<int, std::shared_ptr<DepthPlan>> plans_;  // by loops as asked for
  int vocabulary_ = 0;
  PagePools pools_;
  std::map<SequenceId, Sequence> sequences_;
  SequenceId next_ = 1;
  PassMemory memory_;
  std::vector<float> logits_;
  kernels::Buffer pass_logits_;
  int64_t layer_rows_ = 0;
  mutable uint64_t weights_identity_ = 0;  // 0 = not yet computed
};

}  // namespace onceover::cpu
