// Sequences saved and restored, and files that are damaged or meant for another model.
#include "cpu/state_file.h"

#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "cpu/batch_support.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;

TEST(StateFile, ARestoredSequenceGoesOnWithTheSameBits) {
  FreshRandom random;
  const TemporaryFolder folder;
  for (const auto& model : unbounded_models()) {
    SCOPED_TRACE(model.name);
    const Subject subject(model, random.seed());
    for (const KvTolerance& kv : kv_tolerances) {
      BatchEngine engine = subject.engine({.kv = kv.type});
      const SequenceId id = engine.open();
      const auto tokens = random.tokens(random.between(1, 150), subject.vocabulary());
      feed(engine, id, tokens, 0);
      engine.save(id, folder / "state");
      BatchEngine other = subject.engine({.kv = kv.type});
      const SequenceId restored = other.restore(folder / "state");
      EXPECT_EQ(other.tokens(restored), std::ssize(tokens));
      EXPECT_EQ(other.kv_bytes(restored), engine.kv_bytes(id));
      const auto next = random.tokens(3, subject.vocabulary());
      ASSERT_EQ(feed(other, restored, next, 3), feed(engine, id, next, 3)) << kv.name;
    }
  }
}

TEST(StateFile, RemembersTheDepth) {
  FreshRandom random;
  const TemporaryFolder folder;
  const Subject subject(test::tiny_model("looped", test::tiny_config("yoco-u")), random.seed());
  BatchEngine engine = subject.engine();
  const SequenceId id = engine.open(5);
  feed(engine, id, random.tokens(9, subject.vocabulary()));
  engine.save(id, folder / "state");
  EXPECT_EQ(engine.loops(engine.restore(folder / "state")), 5);
}

TEST(StateFile, AnEmptySequenceIsAState) {
  FreshRandom random;
  const TemporaryFolder folder;
  const Subject subject(test::tiny_model("small", test::tiny_config("yoco")), random.seed());
  BatchEngine engine = subject.engine();
  engine.save(engine.open(), folder / "state");
  EXPECT_EQ(engine.tokens(engine.restore(folder / "state")), 0);
}

class DamagedState : public testing::Test {
 protected:
  DamagedState()
      : subject_(test::tiny_model("small", test::tiny_config("yoco-u")), random_.seed()),
        engine_(subject_.engine()) {
    const SequenceId id = engine_.open();
    feed(engine_, id, random_.tokens(70, subject_.vocabulary()));
    engine_.save(id, path());
    bytes_ = read_bytes(path());
    bytes_in_use_ = engine_.kv_bytes();
  }

  std::filesystem::path path() const { return folder_ / "state"; }

  // The message for a file of these bytes; the engine is as before.
  std::string refusal(const std::string& bytes) {
    write_bytes(path(), bytes);
    const std::string message = error_of([&] { engine_.restore(path()); });
    EXPECT_TRUE(contains(message, path().string())) << message;
    EXPECT_EQ(engine_.kv_bytes(), bytes_in_use_);
    return message;
  }

  // With this number at `at`, and a header checksum that is right for it.
  template <class T>
  std::string with(size_t at, T number) const {
    std::string bytes = bytes_;
    std::memcpy(bytes.data() + at, &number, sizeof number);
    const uint64_t hash = hash64(std::string_view(bytes).substr(0, 56));
    std::memcpy(bytes.data() + 56, &hash, sizeof hash);
    return bytes;
  }

  FreshRandom random_;
  TemporaryFolder folder_;
  Subject subject_;
  BatchEngine engine_;
  std::string bytes_;
  int64_t bytes_in_use_ = 0;
};

TEST_F(DamagedState, EveryTruncationIsRefused) {
  for (size_t size = 0; size < 200; size++) refusal(bytes_.substr(0, size));
  refusal(bytes_.substr(0, bytes_.size() - 1));
  refusal(bytes_ + '\0');
}

TEST_F(DamagedState, AnyChangedByteIsRefused) {
  for (size_t at = 0; at < bytes_.size(); at += at < 64 ? 1 : 997) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    refusal(damaged);
  }
}

TEST_F(DamagedState, NumbersThatLieAreRefusedByName) {
  EXPECT_TRUE(contains(refusal(with<uint32_t>(8, 2)), "version"));
  EXPECT_TRUE(contains(refusal(with<uint32_t>(12, 1)), "f16"));
  EXPECT_TRUE(contains(refusal(with<uint32_t>(12, 77)), "77"));
  EXPECT_TRUE(contains(refusal(with<uint64_t>(16, 1)), "another model"));
  EXPECT_TRUE(contains(refusal(with<uint64_t>(24, 1)), "other weights"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(32, 2)), "another model"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(32, int64_t{1} << 40)), "loops"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(32, -1)), "loops"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(40, 71 + 64)), "bytes"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(40, INT64_MAX)), "tokens"));
  EXPECT_TRUE(contains(refusal(with<int64_t>(40, -5)), "tokens"));
  EXPECT_TRUE(contains(refusal(with<uint64_t>(48, 3)), "damaged"));
}

TEST_F(DamagedState, OtherWeightsAreRefused) {
  const Subject other(subject_.model(), random_.seed() + 1);
  BatchEngine engine = other.engine();
  EXPECT_TRUE(contains(error_of([&] { engine.restore(path()); }), "other weights"));
}

TEST_F(DamagedState, ABudgetHoldsForRestoring) {
  BatchEngine engine = subject_.engine({.max_kv_bytes = bytes_in_use_ - 1});
  EXPECT_TRUE(contains(error_of([&] { engine.restore(path()); }), "limit"));
  EXPECT_EQ(engine.kv_bytes(), 0);
}

TEST_F(DamagedState, AMissingFileIsAnError) {
  EXPECT_TRUE(contains(error_of([&] { engine_.restore(folder_ / "none"); }), "none"));
}

}  // namespace
}  // namespace onceover::cpu
