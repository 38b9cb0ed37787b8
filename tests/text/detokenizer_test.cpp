#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "text/byte_tokenizer.h"
#include "text/sentencepiece_models.h"

namespace onceover {
namespace {

std::string shown_in_steps(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  Detokenizer detokenizer(tokenizer);
  std::string shown;
  for (const int id : ids) {
    const std::string step = detokenizer.push(id);
    EXPECT_TRUE(is_utf8(step));
    shown += step;
  }
  return shown + detokenizer.finish();
}

TEST(Detokenizer, HoldsACharacterBackUntilItIsWhole) {
  const ByteTokenizer tokenizer;
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push('a'), "a");
  EXPECT_EQ(detokenizer.push(0xE2), "");
  EXPECT_EQ(detokenizer.push(0x9C), "");
  EXPECT_EQ(detokenizer.push(*tokenizer.specials().eos), "");
  EXPECT_EQ(detokenizer.push(0x85), "✅");
  EXPECT_EQ(detokenizer.push(0xF0), "");
  EXPECT_EQ(detokenizer.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, AnInvalidByteDoesNotSwallowWhatFollows) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(shown_in_steps(tokenizer, {'x', 0xEA, 0xB9, 'a', 0x80, 'b'}),
            "x\xEF\xBF\xBD\xEF\xBF\xBD"
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Detokenizer, StepsEqualTheWholeForRandomIds) {
  std::mt19937 random(fresh_seed());
  const ByteTokenizer bytes;
  const SentencePieceTokenizer trained(trained_model(), "trained"),
      prefixed(model_file(byte_and_a_model()), "prefixed");
  for (const Tokenizer* tokenizer : std::initializer_list<const Tokenizer*>{&bytes, &trained, &prefixed}) {
    for (int i = 0; i < 1000; i++) {
      std::vector<int> ids(random() % 40);
      for (int& id : ids)
        id = static_cast<int>(random() % static_cast<unsigned>(std::min(tokenizer->vocab_size(), 400)));
      ASSERT_EQ(shown_in_steps(*tokenizer, ids), display_utf8(tokenizer->decode(ids)));
    }
  }
}

TEST(Detokenizer, ALeadingSpaceIsKeptInsideAText) {
  const SentencePieceTokenizer tokenizer(model_file(byte_and_a_model()), "prefixed");
  EXPECT_EQ(Detokenizer(tokenizer).push(261), "a");
  EXPECT_EQ(Detokenizer(tokenizer, TextPosition::Inside).push(261), " a");
}

}  // namespace
}  // namespace onceover
