#include "data/batch_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/error.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

constexpr int eos = 257;

// A stream of documents of the given token counts, each token distinct from its neighbours, with <eos> behind
// each.
std::shared_ptr<const TokenStream> stream_of(const Folder& folder, const std::vector<int>& documents,
                                             bool with_eos = true) {
  ShardContent content{258, {}, {}, 0};
  for (const int count : documents) {
    for (int i = 0; i < count; i++) content.tokens.push_back(static_cast<int>(content.tokens.size() % 256));
    if (with_eos) content.tokens.push_back(eos);
    content.document_ends.push_back(content.tokens.size());
  }
  write_shard(folder.path() / "train_00000.bin", content);
  const uint64_t hash = Shard(folder.path() / "train_00000.bin").hash();
  folder.write(
      "meta.json",
      fmt::format(
          R"({{"format":"onceover-shards","version":1,"settings":{{"eos":257}},"heldout":{{"shards":[]}},)"
          R"("train":{{"shards":[{{"file":"train_00000.bin","tokens":{},"documents":{},"source_bytes":0,)"
          R"("hash":"{:016x}"}}]}}}})",
          content.tokens.size(), documents.size(), hash));
  return std::make_shared<TokenStream>(TokenStream::open({folder.path()}));
}

BatchOptions options_of(int sequence_length, uint64_t samples, int rank = 0, int world = 1) {
  BatchOptions options;
  options.sequence_length = sequence_length;
  options.samples = samples;
  options.seed = 7;
  options.rank = rank;
  options.world = world;
  return options;
}

using Row = std::pair<uint64_t, std::vector<int32_t>>;

void add_rows(const Batch& batch, std::vector<Row>& rows) {
  const auto width = static_cast<size_t>(batch.sequence_length) + 1;
  for (size_t r = 0; r < batch.samples.size(); r++) {
    const auto begin = batch.tokens.begin() + static_cast<std::ptrdiff_t>(r * width);
    rows.push_back({batch.samples[r], {begin, begin + static_cast<std::ptrdiff_t>(width)}});
  }
}

std::vector<Row> rows_of(BatchReader& reader, int steps) {
  std::vector<Row> rows;
  for (int i = 0; i < steps; i++) add_rows(reader.next(), rows);
  return rows;
}

TEST(SampleOrder, EveryEpochHoldsEverySampleOnceInAnOrderOfItsOwn) {
  for (const uint64_t samples : {1, 2, 3, 4, 5, 7, 16, 17, 255, 1000, 1025}) {
    const SampleOrder order(samples, fresh_seed());
    std::vector<std::vector<uint64_t>> epochs(3);
    for (uint64_t g = 0; g < 3 * samples; g++) epochs[order.epoch(g)].push_back(order(g));
    for (auto epoch : epochs) {
      std::sort(epoch.begin(), epoch.end());
      std::vector<uint64_t> all(samples);
      std::iota(all.begin(), all.end(), uint64_t{0});
      EXPECT_EQ(epoch, all);
    }
    if (samples > 100) {
      EXPECT_NE(epochs[0], epochs[1]);
      EXPECT_NE(epochs[1], epochs[2]);
    }
  }
}

TEST(SampleOrder, FollowsFromTheSeedAloneAndSpreadsEvenly) {
  const SampleOrder a(100000, 1), again(100000, 1), b(100000, 2);
  uint64_t same = 0, in_first_half = 0, neighbours = 0;
  for (uint64_t g = 0; g < 10000; g++) {
    EXPECT_EQ(a(g), again(g));
    same += a(g) == b(g);
    in_first_half += a(g) < 50000;
    neighbours += a(g + 1) == a(g) + 1;
  }
  EXPECT_LT(same, 10u);                                        // 0.1 expected
  EXPECT_NEAR(static_cast<double>(in_first_half), 5000, 300);  // 6 standard deviations
  EXPECT_LT(neighbours, 10u);
  EXPECT_THROW(SampleOrder(0, 1), Error);
}

TEST(SampleOrder, ReachesTheLargestCounts) {
  const uint64_t samples = (uint64_t{1} << 63) + 12345;
  const SampleOrder order(samples, 3);
  for (const uint64_t g : {uint64_t{0}, samples - 1, samples, UINT64_MAX}) EXPECT_LT(order(g), samples);
}

TEST(BatchReader, EveryTokenButTheFirstIsATargetOnceAnEpoch) {
  const Folder folder;
  const auto stream = stream_of(folder, {50, 3, 80, 1, 200});
  BatchReader reader(stream, options_of(7, 1));
  std::vector<int32_t> all(stream->size());
  stream->read(0, all);
  std::multiset<int32_t> targets,
      expected(all.begin() + 1,
               all.begin() + 1 + static_cast<std::ptrdiff_t>(reader.samples_per_epoch() * 7));
  for (const auto& [number, row] : rows_of(reader, static_cast<int>(reader.samples_per_epoch())))
    targets.insert(row.begin() + 1, row.end());
  EXPECT_EQ(targets, expected);
  EXPECT_EQ(reader.samples_per_epoch(), (all.size() - 1) / 7);
  EXPECT_EQ(reader.epoch(), 1u);
}

TEST(BatchReader, ResumedOrderEqualsTheStraightOne) {
  const Folder folder;
  const auto stream = stream_of(folder, {500, 300, 41});
  BatchReader straight(stream, options_of(9, 6));
  const auto expected = rows_of(straight, 40);  // several epochs
  std::vector<Row> found;
  nlohmann::json state;
  for (const int steps : {10, 1, 29}) {
    BatchReader reader(stream, options_of(9, 6));
    if (!state.is_null()) reader.restore(state);
    const auto rows = rows_of(reader, steps);
    found.insert(found.end(), rows.begin(), rows.end());
    state = nlohmann::json::parse(reader.state().dump());
  }
  EXPECT_EQ(found, expected);
}

TEST(BatchReader, AnyNumberOfRanksCoversTheSameSamplesEvenWhenItChanges) {
  const Folder folder;
  const auto stream = stream_of(folder, {500, 300, 41});
  BatchReader straight(stream, options_of(9, 5));
  auto expected = rows_of(straight, 12);
  std::vector<Row> found;
  nlohmann::json state;
  for (const int world : {2, 1, 3, 8}) {
    nlohmann::json next;
    for (int rank = 0; rank < world; rank++) {
      BatchReader reader(stream, options_of(9, 5, rank, world));
      if (!state.is_null()) reader.restore(state);
      const auto rows = rows_of(reader, 3);
      found.insert(found.end(), rows.begin(), rows.end());
      EXPECT_TRUE(rank == 0 || next == reader.state());
      next = reader.state();
    }
    state = next;
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);  // by global number: none missing, none twice
}

TEST(BatchReader, RestoreRefusesAPlaceThatMeansOtherSamples) {
  const Folder folder, other_folder;
  const auto stream = stream_of(folder, {100});
  const auto state = BatchReader(stream, options_of(9, 5)).state();
  EXPECT_THROW(BatchReader(stream, options_of(8, 5)).restore(state), Error);
  EXPECT_THROW(BatchReader(stream_of(other_folder, {101}), options_of(9, 5)).restore(state), Error);
  auto options = options_of(9, 5);
  options.seed = 8;
  EXPECT_THROW(BatchReader(stream, options).restore(state), Error);
  for (const char* bad : {"null", "{}", "[]", "3"}) {
    EXPECT_THROW(BatchReader(stream, options_of(9, 5)).restore(nlohmann::json::parse(bad)), Error) << bad;
  }
  auto negative = state;
  negative["position"] = -1;
  EXPECT_THROW(BatchReader(stream, options_of(9, 5)).restore(negative), Error);
}

TEST(BatchReader, TwoDocumentsOfFiveTokensGiveTwoEosTargets) {
  const Folder folder;
  const auto stream = stream_of(folder, {5, 5});
  for (const bool mask : {false, true}) {
    auto options = options_of(11, 1);
    options.mask_document_starts = mask;
    const Batch batch = BatchReader(stream, options).next();
    int eos_targets = 0;
    for (size_t i = 0; i < 11; i++) eos_targets += batch.tokens[i + 1] == eos && batch.counts[i] == 1;
    EXPECT_EQ(eos_targets, 2);
    EXPECT_EQ(batch.target_tokens, mask ? 10u : 11u);
  }
}

TEST(BatchReader, MaskedTargetsAreExactlyTheFirstTokensOfDocuments) {
  const Folder folder;
  const auto stream = stream_of(folder, {3, 1, 9, 2, 2, 30, 1, 1});
  for (const int length : {1, 2, 5, 8}) {
    auto options = options_of(length, 3);
    options.mask_document_starts = true;
    BatchReader reader(stream, options);
    for (int step = 0; step < 30; step++) {
      const Batch batch = reader.next();
      const auto width = static_cast<size_t>(length);
      uint64_t counted = 0;
      for (size_t i = 0; i < batch.counts.size(); i++) {
        // In these streams, and only here, an <eos> input is the same as a document's last position.
        EXPECT_EQ(batch.counts[i] == 0, batch.tokens[i / width * (width + 1) + i % width] == eos);
        counted += batch.counts[i];
      }
      EXPECT_EQ(batch.target_tokens, counted);
    }
  }
}

TEST(BatchReader, WarnsOnceWhenEosNeverOccursAmongTargets) {
  for (const bool with_eos : {true, false}) {
    const Folder folder;
    const auto stream = stream_of(folder, {400, 400}, with_eos);
    std::vector<std::string> warnings;
    auto options = options_of(10, 4);
    options.warn = [&](const std::string& text) { warnings.push_back(text); };
    BatchReader reader(stream, options);
    for (int i = 0; i < 100; i++) reader.next();
    EXPECT_EQ(warnings.size(), with_eos ? 0u : 1u);
  }
}

TEST(BatchReader, RefusesSettingsThatMakeNoBatch) {
  const Folder folder;
  const auto stream = stream_of(folder, {9});
  EXPECT_EQ(BatchReader(stream, options_of(9, 1)).samples_per_epoch(), 1u);
  for (const auto& options : {options_of(10, 1), options_of(0, 1), options_of(-1, 1), options_of(3, 0),
                              options_of(3, 1, 1, 1), options_of(3, 1, -1, 1), options_of(3, 1, 0, 0)}) {
    EXPECT_THROW(BatchReader(stream, options), Error);
  }
}

}  // namespace
}  // namespace onceover
