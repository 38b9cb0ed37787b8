#include "text/split_pattern.h"

#include <gtest/gtest.h>

#include <vector>

#include "text/huggingface_files.h"

namespace onceover {
namespace {

using Words = std::vector<std::string>;

Words words_of(const Json& pre_tokenizer, std::string_view text) {
  Words words;
  PreTokenizer(JsonReader(pre_tokenizer, "test")).split(text, true, [&](std::string_view word) {
    words.emplace_back(word);
  });
  return words;
}

Words cut(const std::string& pattern, std::string_view text) {
  return words_of(split_file(pattern)["pre_tokenizer"], text);
}

const std::string llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

TEST(SplitPattern, OfGpt2KeepsRunsOfLettersDigitsAndSigns) {
  EXPECT_EQ(words_of(byte_level(true), "I can't   go, 1234 ÄÖ\n\n x"),
            (Words{"I", " can", "'t", "  ", " go", ",", " 1234", " ÄÖ", "\n\n", " x"}));
  EXPECT_EQ(words_of(byte_level(true), "I'S ."), (Words{"I", "'", "S", " ."}));
}

TEST(SplitPattern, OfLlama3CutsNumbersIntoThrees) {
  EXPECT_EQ(cut(llama3, "I'S (abc) 1234\n \n  x"),
            (Words{"I", "'S", " (", "abc", ")", " ", "123", "4", "\n \n", " ", " x"}));
}

TEST(SplitPattern, OfQwen2CutsNumbersIntoDigits) {
  EXPECT_EQ(cut(qwen2, "x12 ...\n\ny"), (Words{"x", "1", "2", " ...\n\n", "y"}));
}

TEST(SplitPattern, OfNeoXAfterDigitsCutsBoth) {
  const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
  const Json sequence = {{"type", "Sequence"}, {"pretokenizers", Json::array({digits, byte_level(true)})}};
  EXPECT_EQ(words_of(sequence, "a 12 b"), (Words{"a", " ", "1", "2", " b"}));
}

TEST(SplitPattern, ReadsSpacesAndWordsAsOnigurumaDoes) {
  EXPECT_EQ(cut("\\s", "a\u180Eb\u3000c"), (Words{"a\u180Eb", "\u3000", "c"}));
  EXPECT_EQ(cut("\\w+", "e\u0301_x-y"), (Words{"e\u0301_x", "-", "y"}));
  EXPECT_EQ(cut("[\\w-]+", "e\u0301-y z"), (Words{"e\u0301-y", " ", "z"}));
  EXPECT_EQ(cut("\\u00e9", "aéb"), (Words{"a", "é", "b"}));
}

TEST(SplitPattern, EmptyMatchesCutWithoutAWord) {
  EXPECT_EQ(cut("(?=b)", "abab"), (Words{"a", "ba", "b"}));
  EXPECT_EQ(cut("x*", "aéx"), (Words{"a", "é", "x"}));
}

TEST(SplitPattern, RemovedKeepsMatchesOrWhatIsBetween) {
  EXPECT_EQ(words_of(split_file("a+", "Removed")["pre_tokenizer"], "xaay"), (Words{"x", "y"}));
  EXPECT_EQ(words_of(split_file("a+", "Removed", true)["pre_tokenizer"], "xaay"), (Words{"aa"}));
}

TEST(SplitPattern, WhatOnigurumaReadsOtherwiseIsRefused) {
  for (const char* pattern :
       {"",      "a$",      "^a",     "\\b",    "\\h",   "[[a]b]", "[a&&b]", "\\p{N}{1,3}+",
        "(?m)a", "(*FAIL)", "(?R)",   "(a)\\1", "\\K",   "(",      "[a",     "\\p{Foo}",
        "\\p{",  "\\u12",   "a{2,1}", "\\",     "[\\W]", "[]a]"})
    EXPECT_THROW(cut(pattern, "a"), Error) << pattern;
  EXPECT_THROW(cut(std::string(20'000, 'a'), "a"), Error);
}

TEST(SplitPattern, AHostilePatternIsAnErrorNotAHang) {
  // The last character of the pattern is there, or PCRE2 would not try.
  EXPECT_THROW(cut("(?:a|aa)+b", std::string(5000, 'a') + "cb"), Error);
  EXPECT_THROW(cut("(?:\\s|a*)*x", std::string(5000, 'a') + "cx"), Error);
}

TEST(SplitPattern, LongRunsAreCutInTime) {
  const std::string spaces(1'000'000, ' ');
  EXPECT_EQ(cut(llama3, spaces + "x").size(), 2u);
  EXPECT_EQ(cut(llama3, std::string(1'000'000, 'x')).size(), 1u);
}

}  // namespace
}  // namespace onceover
