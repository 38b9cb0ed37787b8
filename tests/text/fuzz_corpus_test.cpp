// The seeds of fuzz/sentencepiece_model.cpp: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "text/sentencepiece_tokenizer.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfSentencePieceModelsIsAnsweredAsEver) {
  const auto names = accepted_seeds("sentencepiece_model", [](const std::string& bytes) {
    const SentencePieceTokenizer tokenizer(bytes, "seed");
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(" a aa\xFF")), " a aa\xFF");
  });
  EXPECT_EQ(names, (std::set<std::string>{"no_dummy_prefix", "ok", "user_defined"}));
}

}  // namespace
}  // namespace onceover
