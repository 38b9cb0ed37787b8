// The seeds of fuzz/sequence_state.cpp and fuzz/packed_weights.cpp, by the readers of the fuzzers themselves:
// each is still answered with success or an Error, as it is and changed.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "../fuzz/packed_weights.h"
#include "../fuzz/sequence_state.h"

namespace onceover {
namespace {

constexpr int changes_of_a_seed = 60;

void read_weights(const std::string& bytes) {
  packed_weights::read({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(FuzzCorpus, OfSequenceStatesIsAnsweredAsEver) {
  const auto names =
      accepted_seeds("sequence_state", [](const std::string& bytes) { sequence_state::read(bytes); });
  EXPECT_EQ(names, (std::set<std::string>{"empty", "f16", "f16_deep", "f32", "f32_deep", "q8", "q8_deep"}));
}

TEST(FuzzCorpus, OfSequenceStatesChangedIsAnswered) {
  expect_answers_to_mutations("sequence_state", changes_of_a_seed,
                              [](const std::string& bytes) { sequence_state::read(bytes); });
}

TEST(FuzzCorpus, OfPackedWeightsIsAnsweredAsEver) {
  EXPECT_EQ(accepted_seeds("packed_weights", read_weights),
            (std::set<std::string>{"bf16", "f16", "f32", "q4", "q8"}));
}

TEST(FuzzCorpus, OfPackedWeightsChangedIsAnswered) {
  expect_answers_to_mutations("packed_weights", changes_of_a_seed, read_weights);
}

}  // namespace
}  // namespace onceover
