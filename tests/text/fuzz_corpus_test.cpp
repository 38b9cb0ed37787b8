// The seeds of fuzz/sentencepiece_model.cpp and fuzz/tokenizer_json.cpp: each is still answered with success
// or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "text/huggingface_tokenizer.h"
#include "text/sentencepiece_tokenizer.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfSentencePieceModelsIsAnsweredAsEver) {
  const auto names = accepted_seeds("sentencepiece_model", [](const std::string& bytes) {
    const SentencePieceTokenizer tokenizer(bytes, "seed");
    const std::string back = tokenizer.decode(tokenizer.encode(" a aa\xFF"));
    EXPECT_TRUE(!tokenizer.is_exact() || back == " a aa\xFF") << back;
  });
  EXPECT_EQ(names, (std::set<std::string>{"characters", "no_dummy_prefix", "normalized", "ok", "unigram",
                                          "unknown", "user_defined"}));
}

TEST(FuzzCorpus, OfTokenizerJsonIsAnsweredAsEver) {
  const auto names = accepted_seeds("tokenizer_json", [](const std::string& bytes) {
    const HuggingFaceTokenizer tokenizer(bytes, "", "seed");
    const auto ids = tokenizer.encode(" a ab\xFF");
    const std::string back = tokenizer.decode(ids);
    EXPECT_TRUE(!tokenizer.is_exact() || back == " a ab\xFF") << back;
  });
  EXPECT_EQ(names,
            (std::set<std::string>{"backtracking", "byte_level", "fallback", "nfc", "split", "stripping"}));
}

}  // namespace
}  // namespace onceover
