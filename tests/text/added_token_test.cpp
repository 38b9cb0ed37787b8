#include <gtest/gtest.h>

#include "text/huggingface_files.h"

namespace onceover {
namespace {

Json with_token(Json token) {
  Json file = byte_level_file({"u s", "e r", "us er"});
  file["added_tokens"] = Json::array({std::move(token)});
  return file;
}

Json changed(Json token, const char* key) {
  token[key] = true;
  return token;
}

const Json start = added_token(300, "<|im_start|>", true);

TEST(AddedTokens, SpecialsNeverComeFromOrdinaryText) {
  const auto tokenizer = tokenizer_of(with_token(start));
  const std::string text = "<|im_start|>user";
  for (const int id : tokenizer.encode(text)) EXPECT_NE(id, 300);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_EQ(tokenizer.encode_prompt(text, {}), (Ids{300, 258}));
  EXPECT_EQ(tokenizer.piece_bytes(300), "");
  EXPECT_EQ(tokenizer.token_name(300), "<|im_start|>");
}

TEST(AddedTokens, IgnoredMergesDoNotBringASpecialInEither) {
  Json file = with_token(added_token(258, "user", true));
  file["model"]["merges"] = {"u s", "e r"};
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokenizer_of(file).encode("user"), (Ids{256, 257}));
}

TEST(AddedTokens, StripTheWhiteSpaceThatTheyAskFor) {
  const auto ids = [](const Json& token, const char* text) {
    return tokenizer_of(with_token(token)).encode_prompt(text, {});
  };
  EXPECT_EQ(ids(start, "<|im_start|> user"), (Ids{300, ' ', 258}));
  EXPECT_EQ(ids(changed(start, "rstrip"), "<|im_start|> \u3000user"), (Ids{300, 258}));
  EXPECT_EQ(ids(start, " <|im_start|>user"), (Ids{' ', 300, 258}));
  EXPECT_EQ(ids(changed(start, "lstrip"), "us \u3000<|im_start|>user"), (Ids{256, 300, 258}));
}

TEST(AddedTokens, OfOneWordStandAlone) {
  const auto tokenizer = tokenizer_of(with_token(changed(added_token(300, "xx", false), "single_word")));
  EXPECT_EQ(tokenizer.encode("xx xxx"), (Ids{300, ' ', 'x', 'x', 'x'}));
  EXPECT_EQ(tokenizer.encode("xx-xx_"), (Ids{300, '-', 'x', 'x', '_'}));
}

TEST(AddedTokens, OrdinaryOnesAreFoundLongestFirst) {
  Json file = with_token(added_token(300, "  ", false));
  file["added_tokens"].push_back(added_token(301, "    ", false));
  const auto tokenizer = tokenizer_of(file);
  EXPECT_TRUE(tokenizer.is_exact());
  EXPECT_EQ(tokenizer.encode("       us"), (Ids{301, 300, ' ', 256}));
  EXPECT_EQ(tokenizer.piece_bytes(301), "    ");
}

TEST(AddedTokens, NormalizedOnesAreFoundInTheNormalisedText) {
  Json file = with_token(changed(added_token(300, "éé", false), "normalized"));
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(tokenizer_of(file).encode("ée\u0301x"), (Ids{300, 'x'}));
  file["added_tokens"][0]["normalized"] = false;
  EXPECT_EQ(tokenizer_of(file).encode("ée\u0301x"), (Ids{0xC3, 0xA9, 0xC3, 0xA9, 'x'}));
}

}  // namespace
}  // namespace onceover
