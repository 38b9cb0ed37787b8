// Random operations on many sequences: whatever was forked, taken back, saved and restored before, logits
// are those of a fresh sequence of the same tokens.
//
// ONCEOVER_SOAK_OPERATIONS says how many operations there are, 1500 when it is not set.
#include <cstdlib>

#include "base/error.h"
#include "cpu/batch_support.h"
#include "support/temporary_folder.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;

int64_t operations() {
  const char* given = std::getenv("ONCEOVER_SOAK_OPERATIONS");
  return given ? std::atoll(given) : 1500;
}

// One engine, and the tokens that each of its sequences should hold.
class Soak {
 public:
  Soak(const Subject& subject, FreshRandom& random, const EngineOptions& options)
      : subject_(subject),
        random_(random),
        engine_(subject.engine(options)),
        fresh_(subject.engine(options)) {}

  void operate() {
    const int64_t kind = held_.empty() ? 0 : random_.between(0, 9);
    if (kind == 0 && held_.size() < most_sequences) return open();
    if (kind == 1 && held_.size() < most_sequences) return fork();
    if (kind == 2) return truncate();
    if (kind == 3) return restore();
    if (kind == 4) return close();
    run();
  }

  // Nothing is left behind.
  void finish() {
    for (const Held& h : held_) engine_.close(h.id);
    ASSERT_EQ(engine_.kv_bytes(), 0);
  }

 private:
  static constexpr size_t most_sequences = 6;
  struct Held {
    SequenceId id;
    int loops;
    std::vector<int> tokens;
  };

  Held& any() { return held_[static_cast<size_t>(random_.between(0, std::ssize(held_) - 1))]; }

  void open() {
    const int loops = subject_.model().config.num_loops > 1 ? static_cast<int>(random_.between(0, 3)) : 0;
    held_.push_back({engine_.open(loops), loops, {}});
  }

  void fork() {
    const Held from = any();
    held_.push_back({engine_.fork(from.id), from.loops, from.tokens});
  }

  // Refused where the state is not held; then it must be as it was.
  void truncate() {
    Held& h = any();
    const int64_t to = random_.between(0, std::ssize(h.tokens));
    try {
      engine_.truncate(h.id, to);
      h.tokens.resize(static_cast<size_t>(to));
    } catch (const Error&) {
    }
    ASSERT_EQ(engine_.tokens(h.id), std::ssize(h.tokens));
  }

  void restore() {
    Held& h = any();
    engine_.save(h.id, folder_ / "state");
    const SequenceId made = engine_.restore(folder_ / "state");
    engine_.close(h.id);
    h.id = made;
  }

  void close() {
    const auto at = random_.between(0, std::ssize(held_) - 1);
    engine_.close(held_[static_cast<size_t>(at)].id);
    held_.erase(held_.begin() + at);
  }

  void run() {
    std::vector<Held*> fed;
    std::vector<std::vector<int>> fresh;
    for (Held& h : held_) {
      if (random_.between(0, 1) == 0 || std::ssize(h.tokens) > 400) continue;
      fed.push_back(&h);
      const int64_t count = random_.between(0, 3) == 0 ? random_.between(1, 100) : random_.between(1, 3);
      fresh.push_back(random_.tokens(count, subject_.vocabulary()));
    }
    std::vector<BatchEngine::Part> parts;
    for (size_t i = 0; i < fed.size(); i++) parts.push_back({fed[i]->id, fresh[i], 1});
    const auto logits = engine_.run(parts);
    const auto checked = fed.empty() ? 0 : random_.between(0, std::ssize(fed) - 1);
    for (size_t i = 0; i < fed.size(); i++) {
      fed[i]->tokens.insert(fed[i]->tokens.end(), fresh[i].begin(), fresh[i].end());
      ASSERT_EQ(engine_.tokens(fed[i]->id), std::ssize(fed[i]->tokens));
      if (static_cast<int64_t>(i) == checked)
        compare(*fed[i], logits.subspan(i * engine_.vocabulary(), engine_.vocabulary()));
    }
  }

  // Pieces and batch mates differ, so results agree to rounding; keys rounded to f16 may then differ by a
  // unit, too.
  void compare(const Held& h, std::span<const float> found) {
    const SequenceId id = fresh_.open(h.loops);
    const auto expected = feed(fresh_, id, h.tokens);
    fresh_.close(id);
    const reference::Vector wanted(expected.begin(), expected.end());
    ASSERT_LT(test::relative_difference(found, wanted), 1e-2) << h.tokens.size() << " tokens";
  }

  const Subject& subject_;
  FreshRandom& random_;
  BatchEngine engine_, fresh_;
  std::vector<Held> held_;
  TemporaryFolder folder_;
};

TEST(Soak, SequencesStayThemselvesThroughRandomOperations) {
  FreshRandom random;
  const auto models = unbounded_models();
  const int64_t each = std::max<int64_t>(1, operations() / std::ssize(models));
  for (const auto& model : models) {
    SCOPED_TRACE(model.name);
    const Subject subject(model, random.seed());
    const bool routed = is_routed(model.plan);
    Soak soak(subject, random,
              {.chunk_tokens = random.between(1, 100),
               .kv = routed || random.between(0, 1) == 0 ? KvType::F32 : KvType::F16,
               .spare_rows = random.between(0, 100)});
    for (int64_t i = 0; i < each; i++) {
      soak.operate();
      if (HasFatalFailure()) FAIL() << "operation " << i;
    }
    soak.finish();
  }
}

}  // namespace
}  // namespace onceover::cpu
