// The seeds of fuzz/gguf_vocabulary.cpp, fuzz/tiktoken.cpp and fuzz/llama2c_tokenizer.cpp: each is still
// answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "text/llama2c_tokenizer.h"
#include "text/tiktoken.h"
#include "vocabulary/gguf_tokenizer.h"

namespace onceover {
namespace {

void expect_exact(const Tokenizer& tokenizer) {
  const std::string text = " a ab\xFF";
  EXPECT_TRUE(!tokenizer.is_exact() || tokenizer.decode(tokenizer.encode(text)) == text);
}

TEST(FuzzCorpus, OfGgufVocabulariesIsAnsweredAsEver) {
  const auto names = accepted_seeds("gguf_vocabulary", [](const std::string& bytes) {
    expect_exact(*tokenizer_of_gguf(parse_gguf(std::as_bytes(std::span(bytes)), "seed"), "seed"));
  });
  EXPECT_EQ(names, (std::set<std::string>{"gpt-2", "llama-bpe", "no_space_prefix", "scored"}));
}

TEST(FuzzCorpus, OfRankFilesIsAnsweredAsEver) {
  const auto names = accepted_seeds("tiktoken", [](const std::string& bytes) {
    expect_exact(tokenizer_of_tiktoken(bytes, "cl100k", "seed"));
  });
  EXPECT_EQ(names, (std::set<std::string>{"bytes", "few_bytes", "gap", "merges"}));
}

TEST(FuzzCorpus, OfLlama2cTokenizersIsAnsweredAsEver) {
  const auto names = accepted_seeds("llama2c_tokenizer", [](const std::string& bytes) {
    expect_exact(tokenizer_of_llama2c(bytes, "seed"));
  });
  EXPECT_EQ(names, (std::set<std::string>{"ok"}));
}

}  // namespace
}  // namespace onceover
