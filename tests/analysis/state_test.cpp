#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "analysis/plans.h"
#include "support/models.h"

namespace onceover {
namespace {

constexpr double mib = 1 << 20;
constexpr double bf16_bytes = 2;

double kv_mib(const Plan& plan, int64_t tokens) {
  return static_cast<double>(analyse(plan).state_elements(tokens)) * bf16_bytes / mib;
}

// One key/value pair read through two masks.
Analysis read_through(int first_window, int second_window) {
  Builder b;
  const ValueId x = b.embed("embed_tokens", 10, 8, Init::normal(1));
  const Kv kv{b.linear(x, "k", narrow), b.linear(x, "v", narrow)};
  const ValueId y = b.attend(x, kv, 2, 2, Mask{first_window});
  b.logits(b.attend(y, kv, 2, 2, Mask{second_window}), "lm_head.weight", 10, Init::normal(1));
  return analyse(b.finish());
}

TEST(State, ValueReadByTwoMasksKeepsTheLargerRetention) {
  for (const auto& [first, second] : {std::pair{4, 8}, {8, 4}}) {
    const Analysis a = read_through(first, second);
    ASSERT_EQ(a.slots.size(), 2u);
    EXPECT_EQ(a.slots[0].keep.kind, Retention::Kind::Window);
    EXPECT_EQ(a.slots[0].keep.window, 8);
  }
  for (const auto& [first, second] : {std::pair{4, 0}, {0, 4}, {0, 0}}) {
    const Analysis a = read_through(first, second);
    ASSERT_EQ(a.slots.size(), 2u);
    for (const Slot& slot : a.slots) EXPECT_EQ(slot.keep.kind, Retention::Kind::Every);
  }
}

TEST(State, StepThatNobodyReadsLeavesNoSlot) {
  Builder b;
  const ValueId x = b.embed("embed_tokens", 10, 8, Init::normal(1));
  const Kv kv{b.linear(x, "k", narrow), b.linear(x, "v", narrow)};
  const ValueId unread = b.attend(x, kv, 2, 2, Mask{});
  b.logits(x, "lm_head.weight", 10, Init::normal(1));
  const Analysis a = analyse(b.finish());
  EXPECT_TRUE(a.slots.empty());
  for (ValueId v : {kv.k, kv.v, unread}) EXPECT_EQ(a.demand[v], Rows::None);
  EXPECT_EQ(a.state_elements(1000), 0);
}

TEST(State, RingHoldsAtMostItsWindow) {
  const Retention ring{Retention::Kind::Window, 8};
  EXPECT_EQ(ring.rows(0), 0);
  EXPECT_EQ(ring.rows(7), 7);
  EXPECT_EQ(ring.rows(8), 8);
  EXPECT_EQ(ring.rows(9), 8);
  EXPECT_EQ((Retention{Retention::Kind::Every, 0}.rows(9)), 9);
  EXPECT_EQ((Retention{Retention::Kind::Matrix, 0}.rows(9)), 1);
}

TEST(State, SlotsAreInOrderOfValueAndFoundByValue) {
  for (const auto& [name, config, loops, plan] : test::tiny_models()) {
    const Analysis a = analyse(plan);
    ASSERT_EQ(a.slot_of.size(), plan.steps.size()) << name;
    for (size_t s = 0; s < a.slots.size(); s++) {
      EXPECT_EQ(a.slot_of[a.slots[s].value], static_cast<int>(s)) << name;
      if (s == 0) continue;
      EXPECT_LT(a.slots[s - 1].value, a.slots[s].value) << name;
    }
  }
}

// arXiv 2604.01220, Table 10, MiB at 8K … 256K.
TEST(State, MemoryIsThatOfThePaperInEveryCell) {
  const std::vector<std::pair<std::string, std::vector<double>>> paper = {
      {"transformer-1.3b", {320, 640, 1280, 2560, 5120, 10240}},
      {"rins-1.3b", {640, 1280, 2560, 5120, 10240, 20480}},
      {"yoco-1.3b", {26, 42, 74, 138, 266, 522}},
      {"yoco-u-1.3b", {46, 62, 94, 158, 286, 542}}};
  for (const auto& [preset, cells] : paper) {
    const Plan plan = preset_plan(preset);
    for (size_t c = 0; c < cells.size(); c++)
      EXPECT_EQ(kv_mib(plan, int64_t{8192} << c), cells[c]) << preset << " column " << c;
  }
}

TEST(State, SharingHalfTheLayersHalvesMemory) {
  // YOCO++ as published: full attention, the upper half reads the last self layer's cache.
  for (int layers : {12, 22}) {
    Config own = *find_preset("transformer-110m"), shared = *find_preset("yoco-plus-110m");
    own.num_hidden_layers = shared.num_hidden_layers = layers;
    for (int64_t tokens : {1, 1000, 16384}) {
      EXPECT_EQ(analyse(build(own)).state_elements(tokens),
                2 * analyse(build(shared)).state_elements(tokens));
    }
  }
}

TEST(State, LoopsKeepTheirOwnRingsAndOneGlobalCache) {
  const Config c = *find_preset("yoco-u-tiny");
  for (int loops : {1, 2, 5}) {
    const Analysis a = analyse(build(c, {.loops = loops}));
    int rings = 0, caches = 0;
    for (const Slot& slot : a.slots) (slot.keep.kind == Retention::Kind::Every ? caches : rings)++;
    EXPECT_EQ(rings, 2 * loops * 2) << "keys and values of 2 layers";
    EXPECT_EQ(caches, 2);
  }
}

}  // namespace
}  // namespace onceover
