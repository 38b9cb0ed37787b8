#include "cpu/batch_engine.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "base/error.h"
#include "cpu/state_file.h"

namespace onceover::cpu {

// A part of a call, so many of its tokens taken.
struct BatchEngine::Progress {
  Sequence* sequence;
  Part part;
  float* logits;  // of its first row asked for
  int64_t taken = 0;

  int64_t left() const { return std::ssize(part.tokens) - taken; }
  // Of the next `count` tokens.
  int64_t logit_rows(int64_t count) const {
    const int64_t silent = std::ssize(part.tokens) - part.logit_rows;
    return std::max<int64_t>(0, taken + count - std::max(taken, silent));
  }
};

BatchEngine::BatchEngine(PlanAtDepth plan_at_depth, std::shared_ptr<const InferenceWeights> weights,
                         const EngineOptions& options)
    : plan_at_depth_(std::move(plan_at_depth)), options_(options), weights_(std::move(weights)) {
  constexpr int64_t most_rows = int64_t{1} << 30;
  if (options.chunk_tokens < 1 || options.chunk_tokens > most_rows)
    throw Error("chunk_tokens must be 1 to {}, found {}", most_rows, options.chunk_tokens);
  if (options.spare_rows < 0 || options.spare_rows > most_rows)
    throw Error("spare_rows must be 0 to {}, found {}", most_rows, options.spare_rows);
  if (options.max_kv_bytes < 0)
    throw Error("max_kv_bytes must not be negative, found {}", options.max_kv_bytes);
  const Plan& plan = at_depth(0).plan;
  vocabulary_ = plan.steps[plan.logits].width;
}

DepthPlan& BatchEngine::at_depth(int loops) {
  const auto found = plans_.find(loops);
  if (found != plans_.end()) return *found->second;
  auto made = std::make_shared<DepthPlan>(plan_at_depth_(loops), options_.kv);
  for (const auto& [depth, other] : plans_) {
    if (other->fingerprint == made->fingerprint) made = other;
  }
  const auto same = [](const WeightSpec& a, const WeightSpec& b) {
    return a.name == b.name && a.shape == b.shape;
  };
  if (!std::ranges::equal(made->plan.weights, *weights_->table().specs, same))
    throw Error("the plan of {} loops has other weights than the model", loops);
  return *plans_.emplace(loops, std::move(made)).first->second;
}

const BatchEngine::Sequence& BatchEngine::find(SequenceId id) const {
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) throw Error("no sequence {} is open", id);
  if (found->second.torn) throw Error("sequence {} is torn by a call that failed: it can only be closed", id);
  return found->second;
}

SequenceId BatchEngine::add(Sequence sequence) {
  sequences_.emplace(next_, std::move(sequence));
  return next_++;
}

SequenceId BatchEngine::open(int loops) {
  DepthPlan& plan = at_depth(loops);
  Sequence made{&plan, loops, SequenceState(plan, pools_, options_.spare_rows)};
  make_room(made.state.matrix_bytes());
  return add(std::move(made));
}

SequenceId BatchEngine::fork(SequenceId id) {
  const Sequence& from = find(id);
  make_room(from.state.matrix_bytes());
  return add(from);
}

void BatchEngine::close(SequenceId id) {
  if (sequences_.erase(id) == 0) throw Error("no sequence {} is open", id);
}

void BatchEngine::truncate(SequenceId id, int64_t tokens) { find(id).state.truncate(tokens); }

int64_t BatchEngine::tokens(SequenceId id) const { return find(id).state.tokens(); }
int BatchEngine::loops(SequenceId id) const { return find(id).plan->loops; }
const Plan& BatchEngine::plan(SequenceId id) const { return find(id).plan->plan; }
const Analysis& BatchEngine::analysis(SequenceId id) const { return find(id).plan->analysis; }

std::vector<int64_t> BatchEngine::slot_bytes(SequenceId id) const { return find(id).state.slot_bytes(); }

int64_t BatchEngine::kv_bytes(SequenceId id) const {
  const auto slots = slot_bytes(id);
  return std::accumulate(slots.begin(), slots.end(), int64_t{0});
}

int64_t BatchEngine::kv_bytes() const {
  int64_t sum = pools_.used_bytes();
  for (const auto& [id, sequence] : sequences_) sum += sequence.state.matrix_bytes();
  return sum;
}

int64_t BatchEngine::kv_held_bytes() const { return kv_bytes() - pools_.used_bytes() + pools_.held_bytes(); }

void BatchEngine::make_room(int64_t bytes) {
  if (bytes > options_.max_kv_bytes - kv_bytes()) {
    throw Error("{} bytes of keys and values in use and {} more wanted are beyond the limit of {}",
                kv_bytes(), bytes, options_.max_kv_bytes);
  }
  if (bytes > options_.max_kv_bytes - kv_held_bytes()) pools_.trim();
  pools_.hold_at_most(options_.max_kv_bytes - (kv_bytes() - pools_.used_bytes()));
}

void BatchEngine::check(std::span<const Part> parts) const {
  std::set<SequenceId> seen;
  for (const Part& part : parts) {
    const Sequence& sequence = find(part.sequence);
    require_positions(sequence.plan->plan, sequence.state.tokens() + std::ssize(part.tokens));
    if (!seen.insert(part.sequence).second) throw Error("sequence {} occurs twice in a call", part.sequence);
    if (part.tokens.empty()) throw Error("cannot feed an engine no tokens");
    if (part.logit_rows < 0 || part.logit_rows > std::ssize(part.tokens))
      throw Error("expected 0 to {} rows of logits, found {}", part.tokens.size(), part.logit_rows);
    for (const int32_t token : part.tokens) {
      if (token < 0 || token >= vocabulary_)
        throw Error("token {} is outside the vocabulary of {}", token, vocabulary_);
    }
  }
}

std::span<const float> BatchEngine::run(std::span<const Part> parts) {
  check(parts);
  int64_t bytes = 0, rows = 0;
  for (const Part& part : parts) {
    bytes += find(part.sequence).state.bytes_to_take(std::ssize(part.tokens), options_.chunk_tokens);
    rows += part.logit_rows;
  }
  make_room(bytes);
  logits_.resize(static_cast<size_t>(rows * vocabulary_));
  std::map<DepthPlan*, std::vector<Progress>> work;
  rows = 0;
  for (const Part& part : parts) {
    Sequence& sequence = find(part.sequence);
    work[sequence.plan].push_back({&sequence, part, logits_.data() + rows * vocabulary_});
    rows += part.logit_rows;
    sequence.torn = true;
  }
  for (auto& [plan, progress] : work) {
    while (!progress.empty()) run_pass(*plan, progress);
  }
  for (const Part& part : parts) sequences_.at(part.sequence).torn = false;
  return logits_;
}

void BatchEngine::pretend(SequenceId id, int64_t tokens) {
  Sequence& sequence = find(id);
  if (tokens < 0) throw Error("expected a number of tokens, found {}", tokens);
  require_positions(sequence.plan->plan, sequence.state.tokens() + tokens);
  make_room(sequence.state.bytes_to_take(tokens, options_.chunk_tokens));
  for (int64_t left = tokens; left > 0;) {
    const int64_t count = std::min(options_.chunk_tokens, left);
    sequence.state.append_zeros(count);
    left -= count;
  }
}

// Where a sequence's tokens are cut into pieces depends on itself alone; how many pieces of different
// sequences a pass takes does not change any result.
void BatchEngine::run_pass(DepthPlan& plan, std::vector<Progress>& work) {
  std::vector<PassPart> parts;
  std::vector<Progress*> taking;
  int64_t rows = 0;
  for (Progress& p : work) {
    const int64_t count = std::min(options_.chunk_tokens, p.left());
    if (rows > 0 && rows + count > options_.chunk_tokens) continue;
    parts.push_back({&p.sequence->state,
                     p.part.tokens.subspan(static_cast<size_t>(p.taken), static_cast<size_t>(count)),
                     p.logit_rows(count)});
    taking.push_back(&p);
    rows += count;
  }
  BatchPass pass(plan, weights_->table(), memory_, parts);
  // Rows that belong together anyway are written where they belong.
  float* logits =
      parts.size() == 1 ? taking[0]->logits : pass_logits_.reserve(pass.logit_rows() * vocabulary_);
  pass.run(logits);
  layer_rows_ += pass.layer_rows();
  for (size_t i = 0; i < parts.size(); i++) {
    const int64_t floats = parts[i].logit_rows * vocabulary_;
    if (parts.size() > 1 && floats > 0) {
      std::memcpy(taking[i]->logits, logits, static_cast<size_t>(floats) * sizeof(float));
      logits += floats;
    }
    taking[i]->logits += floats;
    taking[i]->taken += std::ssize(parts[i].tokens);
  }
  std::erase_if(work, [](const Progress& p) { return p.left() == 0; });
}

uint64_t BatchEngine::weights_identity() const {
  if (weights_identity_ == 0) weights_identity_ = weights_->identity();
  return weights_identity_;
}

void BatchEngine::save(SequenceId id, const std::filesystem::path& path) const {
  const Sequence& sequence = find(id);
  write_state(path,
              {options_.kv, sequence.plan->fingerprint, weights_identity(), sequence.asked_loops,
               sequence.state.tokens()},
              sequence.state.stored());
}

SequenceId BatchEngine::restore(const std::filesystem::path& path) {
  const StateFile file(path);
  file.require_kv(options_.kv);
  file.require_weights(weights_identity());
  const int64_t tokens = file.header().tokens;
  DepthPlan& plan = at_depth(static_cast<int>(file.header().loops));
  file.require_plan(plan.fingerprint);
  require_positions(plan.plan, tokens);
  Sequence made{&plan, static_cast<int>(file.header().loops),
                SequenceState(plan, pools_, options_.spare_rows)};
  const int64_t bytes = made.state.stored_bytes(tokens);
  file.require_size(bytes);
  make_room(bytes);
  file.read(made.state.restart(tokens));
  return add(std::move(made));
}

}  // namespace onceover::cpu
