// Random operations on many sequences: whatever was forked, taken back, saved, restored and refused before,
// logits are those that the oracle gives for the same tokens.
//
// ONCEOVER_SOAK_OPERATIONS says how many operations there are, 1500 when it is not set.
#include <array>
#include <cstdlib>
#include <limits>
#include <set>

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

// What a sequence should hold. The oracle takes its tokens only when logits are compared.
struct Held {
  SequenceId id;
  int loops;
  std::vector<int> tokens;
  reference::State exact;
  std::array<reference::State, test::ExactLogits::moves> moved;

  // The oracle goes back row by row where all rows are kept, and begins anew elsewhere.
  void forget_from(int64_t count, bool all_rows_kept) {
    tokens.resize(static_cast<size_t>(count));
    if (exact.tokens <= count) return;
    const auto go_back = [&](reference::State& state) {
      for (auto& rows : state.slots) rows.erase(rows.lower_bound(count), rows.end());
      state.tokens = count;
      if (!all_rows_kept) state = {};
    };
    go_back(exact);
    for (auto& state : moved) go_back(state);
  }
};

// The oracle at one depth: with the weights, and with weights moved by roundings.
class Oracle {
 public:
  Oracle(const Subject& subject, int loops)
      : plan_(subject.plan(loops)),
        analysis_(analyse(plan_)),
        weights_(subject.weights()),
        exact_(plan_, analysis_, weights_) {
    for (size_t draw = 0; draw < moved_weights_.size(); draw++) {
      moved_weights_[draw] = test::moved_by_rounding(weights_, draw);
      moved_.emplace_back(plan_, analysis_, moved_weights_[draw]);
    }
  }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // Of the last `rows` tokens, none of which the states have.
  ExpectedLogits take(Held& h, int64_t rows) const {
    const std::vector<int> fresh(h.tokens.begin() + h.exact.tokens, h.tokens.end());
    std::vector<int64_t> asked;
    for (int64_t row = std::ssize(h.tokens) - rows; row < std::ssize(h.tokens); row++) asked.push_back(row);
    std::vector<reference::RowsOf> moved;
    for (size_t draw = 0; draw < moved_.size(); draw++)
      moved.push_back(moved_[draw].run(h.moved[draw], fresh, asked));
    return ExpectedLogits({exact_.run(h.exact, fresh, asked), moved});
  }

 private:
  Plan plan_;
  Analysis analysis_;
  reference::Weights weights_;
  std::array<reference::Weights, test::ExactLogits::moves> moved_weights_;
  reference::Executor exact_;
  std::vector<reference::Executor> moved_;
};

// One engine, and the tokens that each of its sequences should hold.
class Soak {
 public:
  Soak(const Subject& subject, FreshRandom& random, const EngineOptions& options, const Tolerance& tolerance)
      : subject_(subject),
        random_(random),
        options_(options),
        tolerance_(tolerance),
        engine_(subject.engine(options)) {
    for (const Slot& slot : analyse(subject.model().plan).slots) {
      all_rows_kept_ = all_rows_kept_ && slot.keep.kind == Retention::Kind::Every;
      if (slot.keep.kind == Retention::Kind::Matrix) {
        has_matrices_ = 1;
      } else {
        page_widths_.insert(slot.width);
      }
    }
  }

  void operate() {
    const int64_t kind = held_.empty() ? 0 : random_.between(0, 9);
    const bool room = held_.size() < most_sequences;
    if (kind == 0 && room) {
      open();
    } else if (kind == 1 && room) {
      fork();
    } else if (kind == 2) {
      truncate();
    } else if (kind == 3) {
      restore();
    } else if (kind == 4) {
      close();
    } else {
      run();
    }
    expect_sound();
  }

  // Nothing is left behind.
  void finish() {
    for (const Held& h : held_) engine_.close(h.id);
    ASSERT_EQ(engine_.kv_bytes(), 0);
  }

 private:
  static constexpr size_t most_sequences = 6;
  static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

  Held& any() { return held_[static_cast<size_t>(random_.between(0, std::ssize(held_) - 1))]; }

  // Whether the engine did it. Only a budget may be in the way.
  template <class Act>
  bool within_budget(const Act& act) {
    try {
      act();
      return true;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("limit"), std::string::npos) << e.what();
      return false;
    }
  }

  void open() {
    const int loops = subject_.model().config.num_loops > 1 ? static_cast<int>(random_.between(0, 3)) : 0;
    within_budget([&] { held_.push_back({engine_.open(loops), loops, {}, {}, {}}); });
  }

  void fork() {
    Held made = any();
    if (!within_budget([&] { made.id = engine_.fork(made.id); })) return;
    held_.push_back(std::move(made));
  }

  // Refused where the state is not held; then it must be as it was.
  void truncate() {
    Held& h = any();
    const int64_t to = random_.between(0, std::ssize(h.tokens));
    try {
      engine_.truncate(h.id, to);
      h.forget_from(to, all_rows_kept_);
    } catch (const Error&) {
    }
  }

  void restore() {
    Held& h = any();
    engine_.save(h.id, folder_ / "state");
    SequenceId made = 0;
    if (!within_budget([&] { made = engine_.restore(folder_ / "state"); })) return;
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
      if (random_.between(0, 1) == 0 || std::ssize(h.tokens) > 150) continue;
      fed.push_back(&h);
      const int64_t count = random_.between(0, 3) == 0 ? random_.between(1, 100) : random_.between(1, 3);
      fresh.push_back(random_.tokens(count, subject_.vocabulary()));
    }
    std::vector<BatchEngine::Part> parts;
    for (size_t i = 0; i < fed.size(); i++)
      parts.push_back({fed[i]->id, fresh[i], random_.between(0, std::min<int64_t>(3, std::ssize(fresh[i])))});
    std::span<const float> logits;
    if (!within_budget([&] { logits = engine_.run(parts); })) return;
    const auto checked = static_cast<size_t>(random_.between(0, std::max<int64_t>(1, std::ssize(fed)) - 1));
    for (size_t i = 0; i < fed.size(); i++) {
      fed[i]->tokens.insert(fed[i]->tokens.end(), fresh[i].begin(), fresh[i].end());
      const auto rows = static_cast<size_t>(parts[i].logit_rows);
      if (i == checked) compare(*fed[i], logits.first(rows * vocabulary()), parts[i].logit_rows);
      logits = logits.subspan(rows * vocabulary());
    }
    ASSERT_TRUE(logits.empty());
  }

  void compare(Held& h, std::span<const float> found, int64_t rows) {
    if (rows == 0) return;
    auto& oracle = oracles_[h.loops];
    if (!oracle) oracle = std::make_unique<Oracle>(subject_, h.loops);
    const ExpectedLogits expected = oracle->take(h, rows);
    for (int64_t row = std::ssize(h.tokens) - rows; row < std::ssize(h.tokens); row++) {
      expected.expect_near(found.first(vocabulary()), row, tolerance_);
      found = found.subspan(vocabulary());
    }
  }

  void expect_sound() {
    int64_t sum = 0;
    for (const Held& h : held_) {
      ASSERT_EQ(engine_.tokens(h.id), std::ssize(h.tokens));
      sum += engine_.kv_bytes(h.id);
    }
    ASSERT_LE(engine_.kv_bytes(), sum);
    ASSERT_LE(engine_.kv_bytes(), options_.max_kv_bytes);
    // Pages of one size that are free beside others in use cannot be given up for those of another.
    if (options_.max_kv_bytes < unbounded) {
      ASSERT_LE(engine_.kv_held_bytes(), options_.max_kv_bytes * (std::ssize(page_widths_) + has_matrices_));
    }
  }

  size_t vocabulary() const { return static_cast<size_t>(engine_.vocabulary()); }

  const Subject& subject_;
  FreshRandom& random_;
  EngineOptions options_;
  Tolerance tolerance_;
  BatchEngine engine_;
  std::vector<Held> held_;
  std::map<int, std::unique_ptr<Oracle>> oracles_;  // by loops as asked for
  std::set<int64_t> page_widths_;
  int has_matrices_ = 0;
  bool all_rows_kept_ = true;
  TemporaryFolder folder_;
};

// Of some 150 tokens of one sequence, and more than one.
int64_t some_budget(const Subject& subject, FreshRandom& random, KvType kv) {
  BatchEngine engine = subject.engine({.kv = kv});
  engine.pretend(engine.open(), 150);
  return engine.kv_bytes() * random.between(1, 6);
}

TEST(Soak, SequencesStayThemselvesThroughRandomOperations) {
  FreshRandom random;
  const auto models = test::tiny_models();
  const int64_t each = std::max<int64_t>(1, operations() / std::ssize(models));
  for (const auto& model : models) {
    const Subject subject(model, random.seed());
    const KvTolerance& kv = kv_tolerances[is_routed(model.plan) ? 0 : random.between(0, 2)];
    EngineOptions options{
        .chunk_tokens = random.between(1, 100), .kv = kv.type, .spare_rows = random.between(0, 100)};
    if (random.between(0, 1) == 0) options.max_kv_bytes = some_budget(subject, random, kv.type);
    SCOPED_TRACE(testing::Message() << model.name << ", " << kv.name << ", chunks of " << options.chunk_tokens
                                    << ", " << options.spare_rows << " spare rows, at most "
                                    << options.max_kv_bytes << " bytes");
    Soak soak(subject, random, options, kv.logits);
    for (int64_t i = 0; i < each; i++) {
      soak.operate();
      if (testing::Test::HasFailure()) FAIL() << "operation " << i;
    }
    soak.finish();
  }
}

}  // namespace
}  // namespace onceover::cpu
