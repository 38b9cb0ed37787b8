#include "vocabulary/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "text/byte_level.h"
#include "text/samples.h"
#include "vocabulary/fixtures.h"

namespace onceover {
namespace {

TEST(GgufTokenizer, ReadsAScoredVocabulary) {
  const auto tokenizer = tokenizer_of(scored_vocabulary());
  EXPECT_EQ(tokenizer->specials().bos, 1);
  EXPECT_EQ(tokenizer->specials().eos, 2);
  EXPECT_TRUE(tokenizer->specials().adds_bos);
  EXPECT_TRUE(tokenizer->adds_leading_space());
  EXPECT_EQ(tokenizer->encode("ab a"), (std::vector<int>{263, 262}));  // "▁ab", "▁a"
  EXPECT_EQ(tokenizer->encode_prompt("<s>ab", {}), (std::vector<int>{1, 263}));
  EXPECT_EQ(tokenizer->encode("</s>").size(), 5U);  // text: "▁" and four bytes
}

TEST(GgufTokenizer, ReadsMergesAndCutsAsPreSays) {
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "smollm"}) {
    const auto tokenizer = tokenizer_of(merged_vocabulary(pre));
    EXPECT_EQ(tokenizer->encode("ab ab"), (std::vector<int>{256, 258}));
    // Three digits go together for Llama 3, all for GPT-2, none for Qwen 2; merges make "11" of two.
    const size_t digits = tokenizer->encode("1111").size();
    const std::string name = pre;
    EXPECT_EQ(digits, name == "gpt-2" ? 2U : name == "llama-bpe" ? 3U : 4U) << pre;
    EXPECT_EQ(tokenizer->encode("<end>").size(), 5U);
    EXPECT_EQ(tokenizer->encode_prompt("<end>", {}), (std::vector<int>{260}));
    EXPECT_EQ(tokenizer->encode("a<tool>"), (std::vector<int>{'a', 261}));
    EXPECT_TRUE(tokenizer->is_end(260));
    EXPECT_FALSE(tokenizer->specials().adds_bos);
  }
}

TEST(GgufTokenizer, GivesEveryByteStringBack) {
  std::mt19937 random(fresh_seed());
  for (const GgufKeys& keys :
       {scored_vocabulary(), merged_vocabulary("gpt-2"), merged_vocabulary("llama-bpe")}) {
    const auto tokenizer = tokenizer_of(keys);
    ASSERT_TRUE(tokenizer->is_exact());
    for (int i = 0; i < 300; i++) {
      const std::string text = i % 3 == 0 ? random_bytes(random, random() % 200) : random_text(random, 20);
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
  }
}

TEST(GgufTokenizer, SavedAsAFolderItIsTheSameTokenizer) {
  for (const GgufKeys& keys : {scored_vocabulary(), merged_vocabulary("llama-bpe")}) {
    const auto tokenizer = tokenizer_of(keys);
    const TemporaryFolder folder;
    tokenizer->save(folder.path());
    const auto loaded = load_tokenizer(folder.path());
    EXPECT_EQ(loaded->fingerprint(), tokenizer->fingerprint());
    EXPECT_EQ(loaded->specials().eos, tokenizer->specials().eos);
    EXPECT_EQ(loaded->encode("ab ab 1111"), tokenizer->encode("ab ab 1111"));
  }
}

TEST(GgufTokenizer, RefusesByNameWhatItDoesNotKnow) {
  const auto refusal = [](GgufKeys keys, const char* key, GgufKeys::mapped_type value) {
    keys[key] = std::move(value);
    return error_of([&] { tokenizer_of(keys); });
  };
  const GgufKeys merged = merged_vocabulary("gpt-2"), scored = scored_vocabulary();
  EXPECT_TRUE(
      contains(refusal(merged, "tokenizer.ggml.pre", string_value("tekken")), "'tekken' is not supported"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.pre", string_value("")), "pre is missing"));
  EXPECT_TRUE(
      contains(refusal(merged, "tokenizer.ggml.model", string_value("bert")), "'bert' is not supported"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.model", string_value("")), "has no tokeniser"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.merges", strings_value({"ab"})), "merges"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.merges", strings_value({"q zz"})), "zz"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.merges", u32_value(1)), "not of the expected type"));
  EXPECT_TRUE(contains(refusal(merged, "tokenizer.ggml.eos_token_id", u32_value(99999)), "eos_token_id"));
  EXPECT_TRUE(contains(refusal(scored, "tokenizer.ggml.tokens", strings_value({"a"})), "token_type"));
  EXPECT_TRUE(contains(refusal(scored, "tokenizer.ggml.scores", strings_value({"a"})), "scores"));
  EXPECT_TRUE(contains(refusal(scored, "tokenizer.ggml.remove_extra_whitespaces", bool_value(true)),
                       "changes the text"));
}

}  // namespace
}  // namespace onceover
