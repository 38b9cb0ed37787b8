// A megabyte of one character, or of two that sort past each other, in every family of tokenisers: it comes
// back, and nothing takes more than time in proportion (a square of it would take hours).
#include <gtest/gtest.h>

#include "text/byte_tokenizer.h"
#include "text/huggingface_files.h"
#include "text/llama2c_tokenizer.h"
#include "text/sentencepiece_models.h"
#include "text/tiktoken.h"
#include "vocabulary/fixtures.h"
#include "vocabulary/rank_files.h"

namespace onceover {
namespace {

constexpr size_t megabyte = 1'000'000;

std::string run_of(std::string_view unit) {
  std::string text;
  while (text.size() < megabyte) text += unit;
  return text;
}

class LongRuns : public testing::TestWithParam<std::string_view> {
 protected:
  static void expect_back(const Tokenizer& tokenizer, const char* family) {
    SCOPED_TRACE(family);
    const std::string text = run_of(GetParam());
    const std::vector<int> ids = tokenizer.encode(text);
    EXPECT_GT(ids.size(), 1000U);
    EXPECT_TRUE(tokenizer.decode(ids) == text);
    EXPECT_TRUE(tokenizer.encode_prompt(text, {}) == ids);
  }
};

TEST_P(LongRuns, ComeBackFromBytesAndByteLevels) {
  expect_back(ByteTokenizer(), "bytes");
  // Merges of everything that a run is made of, several levels of them.
  const std::vector<std::string> merges = {"a b", "a a", "aa aa", "Ġ Ġ", "ĠĠ ĠĠ", "Ċ Ċ", "7 7", "Ā Ā"};
  expect_back(tokenizer_of(byte_level_file(merges)), "byte level");
  for (const char* pre : {"gpt-2", "llama-bpe"}) expect_back(*tokenizer_of(merged_vocabulary(pre)), pre);
}

TEST_P(LongRuns, ComeBackFromByteFallbacks) {
  expect_back(tokenizer_of(fallback_file()), "byte fallback");
  expect_back(SentencePieceTokenizer(trained_model(), "trained"), "SentencePiece, trained");
  expect_back(SentencePieceTokenizer(model_file(byte_and_a_model()), "model"), "SentencePiece, prefixed");
  expect_back(*tokenizer_of(scored_vocabulary()), "GGUF by scores");
  expect_back(tokenizer_of_llama2c(llama2c_file(), "x.bin"), "llama2.c");
}

TEST_P(LongRuns, ComeBackFromRanks) {
  expect_back(tokenizer_of_tiktoken(tiktoken_file({"aa", "aaaa", "  ", "\n\n", "77"}), "gpt-2", "x.tiktoken"),
              "tiktoken");
}

TEST_P(LongRuns, AreBroughtToTheirNormalForm) {
  for (const char* form : {"NFC", "NFKC"}) {
    Json file = byte_level_file();
    file["normalizer"] = {{"type", form}};
    const HuggingFaceTokenizer tokenizer = tokenizer_of(file);
    const std::string once = tokenizer.decode(tokenizer.encode(run_of(GetParam())));
    EXPECT_GT(once.size(), megabyte / 4) << form;
    EXPECT_TRUE(tokenizer.decode(tokenizer.encode(once)) == once) << form;
  }
}

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(OfOneCharacter, LongRuns,
                         testing::Values(" "sv, "a"sv, "\n"sv, "😀"sv, "7"sv, "\0"sv, "▁"sv, "\xFF"sv,
                                         "\u0301\u0316"sv, "\uFF9E\u0316"sv));

}  // namespace
}  // namespace onceover
