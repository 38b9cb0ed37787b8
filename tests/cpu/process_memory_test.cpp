// How much the process grows while a sequence does: by the formula's bytes of keys and values, and no more.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "cpu/batch_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ONCEOVER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONCEOVER_SANITIZED 1
#endif
#endif

namespace onceover::cpu {
namespace {

using test::FreshRandom;

constexpr double mebibyte = 1 << 20;
constexpr int64_t slack_bytes = 2 << 20;

int64_t resident_bytes() {
  int64_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// One key or value row has 128 numbers.
Config some_config(const std::string& architecture) {
  Config c = test::tiny_config(architecture);
  c.vocab_size = 64;
  c.hidden_size = 64;
  c.intermediate_size = 64;
  c.num_attention_heads = 4;
  c.num_key_value_heads = 4;
  c.head_dim = 32;
  if (c.sliding_window) c.sliding_window = 512;
  return c;
}

int64_t formula_bytes(const Analysis& analysis, int64_t tokens, int64_t number_bytes) {
  return analysis.state_elements(tokens) * number_bytes;
}

struct Case {
  const char* architecture;
  KvType kv;
  int64_t number_bytes;
};

class ProcessMemory : public testing::TestWithParam<Case> {};

// The model runs for the first 8192 tokens and for a chunk at each length, so that whatever a pass needs at
// that depth is there; between, the state alone grows. The first 1024 tokens are not counted: they bring what
// the engine keeps for its passes. Rings stay at their window and the chunk in flight, which the formula does
// not count, and the last huge page of a slab may not be full: 2 MiB for both.
TEST_P(ProcessMemory, GrowsByTheFormulaAndNoMore) {
#ifdef ONCEOVER_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory grows, too";
#endif
  FreshRandom random;
  const Case& c = GetParam();
  const Subject subject(test::tiny_model("model", some_config(c.architecture)), random.seed());
  constexpr int64_t chunk = 256;
  BatchEngine engine = subject.engine({.chunk_tokens = chunk, .kv = c.kv});
  const SequenceId id = engine.open();
  const auto tokens = random.tokens(8192, subject.vocabulary());
  const Analysis& analysis = engine.analysis(id);
  feed(engine, id, std::span(tokens).first(1024));
  malloc_trim(0);  // or the engine grows into what earlier tests left
  const int64_t before = resident_bytes(), counted = formula_bytes(analysis, 1024, c.number_bytes);
  feed(engine, id, std::span(tokens).subspan(1024));
  for (const int64_t length : {8192, 16384, 32768, 65536}) {
    if (engine.tokens(id) < length) {
      engine.pretend(id, length - chunk - engine.tokens(id));
      feed(engine, id, std::span(tokens).first(chunk));
    }
    const int64_t formula = formula_bytes(analysis, length, c.number_bytes) - counted;
    const int64_t grown = resident_bytes() - before;
    fmt::print("{:>11} {:>6} tokens: formula {:.2f} MiB, grown {:.2f} MiB\n", c.architecture, length,
               static_cast<double>(formula) / mebibyte, static_cast<double>(grown) / mebibyte);
    EXPECT_LE(grown, formula + formula / 20 + slack_bytes) << length;
    EXPECT_GE(grown, formula - formula / 20 - slack_bytes) << length;
    if (length == 65536) {
      EXPECT_LE(std::abs(grown - formula), formula / 20);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, ProcessMemory,
                         testing::Values(Case{"transformer", KvType::F16, 2}, Case{"yoco-u", KvType::F32, 4},
                                         Case{"yoco", KvType::F32, 4}),
                         [](const auto& each) { return test::test_name(each.param.architecture); });

}  // namespace
}  // namespace onceover::cpu
