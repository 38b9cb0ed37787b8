#include <gtest/gtest.h>

#include "base/error.h"
#include "text/folder.h"
#include "text/huggingface_files.h"
#include "text/samples.h"

namespace onceover {
namespace {

// Case D6's vocabulary; "<|im_start|>" is its first free id.
Json user_file() {
  Json file = byte_level_file();
  Json vocab;
  for (const char* name :
       {"a", "b", "ab", "Ġ", "Ġa", "u", "s", "e", "r", "us", "er", "user", "Ġu", "Ġus", "Ġuser"})
    vocab[name] = vocab.size();
  file["model"]["vocab"] = vocab;
  file["model"]["merges"] = {"a b", "Ġ a", "u s", "e r", "us er", "Ġ u", "Ġu s", "Ġus er"};
  return file;
}

TEST(HuggingFaceTokenizer, MergesInTheOrderOfTheRanksNotTheLongestFirst) {
  const auto tokenizer = tokenizer_of(user_file());
  const auto name = [&](int id) { return tokenizer.token_name(id); };
  const Ids ids = tokenizer.encode(" user");
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(name(ids[0]), "Ġ");
  EXPECT_EQ(name(ids[1]), "user");
  EXPECT_EQ(tokenizer.encode("ab a"), (Ids{2, 4}));
}

TEST(HuggingFaceTokenizer, ReadsMergesAsLinesAndAsPairsAlike) {
  const Json lines = user_file();
  Json pairs = lines;
  for (auto& merge : pairs["model"]["merges"]) {
    const std::string line = merge;
    merge = Json::array({line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)});
  }
  EXPECT_EQ(tokenizer_of(pairs).encode("ab user a"), tokenizer_of(lines).encode("ab user a"));
  EXPECT_EQ(tokenizer_of(pairs).fingerprint(), tokenizer_of(lines).fingerprint());
}

TEST(HuggingFaceTokenizer, AByteWithoutATokenIsAnErrorNotALoss) {
  const auto tokenizer = tokenizer_of(user_file());
  EXPECT_FALSE(tokenizer.is_exact());
  EXPECT_THROW(tokenizer.encode("ab!"), Error);
}

TEST(HuggingFaceTokenizer, WholeWordsComeFirstWhereMergesAreIgnored) {
  Json file = byte_level_file({"a b", "ab c", "b c"});
  file["model"]["merges"] = {"b c", "a b"};
  EXPECT_EQ(tokenizer_of(file).encode("abc"), (Ids{'a', 258}));
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokenizer_of(file).encode("abc"), (Ids{257}));
}

TEST(HuggingFaceTokenizer, GivesEveryByteStringBackWhereItSaysSo) {
  std::mt19937 random(fresh_seed());
  Json with_added = byte_level_file();
  with_added["added_tokens"] = {added_token(300, "  ", false), added_token(301, "</s>", true)};
  std::vector<HuggingFaceTokenizer> tokenizers;
  for (const Json& file : {byte_level_file(), with_added, split_file("\\s+(?!\\S)|\\w+|'s"), fallback_file()})
    tokenizers.push_back(tokenizer_of(file));
  for (const auto& tokenizer : tokenizers) {
    ASSERT_TRUE(tokenizer.is_exact());
    for (int i = 0; i < 300; i++) {
      const std::string text = i % 3 == 0 ? random_bytes(random, random() % 200) : random_text(random, 20);
      Ids ids = tokenizer.encode(text.substr(0, text.size() / 2));
      tokenizer.encode(text.substr(text.size() / 2), TextPosition::Inside, ids);
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
      EXPECT_EQ(tokenizer.decode(ids), text);
    }
  }
}

TEST(HuggingFaceTokenizer, MergesALongWordAsTheRanksSay) {
  const auto tokenizer = tokenizer_of(byte_level_file({"a a", "aa aa"}));
  const Ids ids = tokenizer.encode(std::string(200'003, 'a'));
  ASSERT_EQ(ids.size(), 50'002u);
  EXPECT_EQ(ids[50'000], 256);
  EXPECT_EQ(ids[50'001], 'a');
}

TEST(HuggingFaceTokenizer, FallsBackToBytesAndKeepsLiteralByteNamesAsText) {
  const auto tokenizer = tokenizer_of(fallback_file());
  EXPECT_EQ(tokenizer.encode("a깰"), (Ids{261, 237, 188, 179}));
  EXPECT_EQ(tokenizer.encode("a <0xEA>"), (Ids{261, 259, 63, 51, 123, 72, 68, 65}));
  EXPECT_EQ(tokenizer.decode(Ids{261, 237, 260}),
            "a\xEA"
            "a");
  EXPECT_EQ(tokenizer.encode("a a\xE2\x96\x81"), (Ids{261, 261, 3 + 0xE2, 3 + 0x96, 3 + 0x81}));
  EXPECT_TRUE(tokenizer.encode("").empty());
}

TEST(HuggingFaceTokenizer, NormalFormsChangeTextsAndSaySo) {
  Json file = byte_level_file();
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_FALSE(tokenizer_of(file).is_exact());
  const auto back = [&](const Json& json, const std::string& text) {
    const auto tokenizer = tokenizer_of(json);
    return tokenizer.decode(tokenizer.encode(text));
  };
  EXPECT_EQ(back(file, "xe\u0301\xFF ﬁ"), "xé\xFF ﬁ");
  // Marks of class 220 go before those of class 230, but U+0898, of Unicode 14, is no mark to the library.
  EXPECT_EQ(back(file, "q\u0301\u0316"), "q\u0316\u0301");
  EXPECT_EQ(back(file, "q\u0898\u0316"), "q\u0898\u0316");
  EXPECT_EQ(back(file, "q\u0301\u0898\u0301\u0316"), "q\u0301\u0898\u0316\u0301");
  file["normalizer"] = {{"type", "NFKC"}};
  EXPECT_EQ(back(file, "ﬁ½"), "fi1⁄2");
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "aa"}}}, {"content", "b"}};
  EXPECT_EQ(back(file, "aaax"), "bax");
}

TEST(HuggingFaceTokenizer, PutsASpaceBeforeATextWhereByteLevelAsksForIt) {
  Json file = byte_level_file();
  file["pre_tokenizer"] = byte_level(true, true);
  const auto tokenizer = tokenizer_of(file);
  EXPECT_FALSE(tokenizer.is_exact());
  EXPECT_EQ(tokenizer.encode("ab"), tokenizer.encode(" ab"));
  Ids ids;
  tokenizer.encode("ab", TextPosition::Inside, ids);
  EXPECT_EQ(ids, (Ids{256}));
}

TEST(HuggingFaceTokenizer, FindsTheSpecialsInTheConfigBesideIt) {
  Json file = byte_level_file();
  file["added_tokens"] = {added_token(259, "<s>", true), added_token(260, "<e>", false)};
  const Folder folder;
  folder.write("tokenizer.json", file.dump());
  folder.write("tokenizer_config.json",
               R"({"bos_token": "<s>", "eos_token": {"content": "<e>"}, "pad_token": null})");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->specials().bos, 259);
  EXPECT_EQ(tokenizer->specials().eos, 260);
  EXPECT_EQ(tokenizer->specials().pad, std::nullopt);
  EXPECT_EQ(tokenizer->encode("<e>"), (Ids{'<', 'e', '>'}));
  EXPECT_THROW(tokenizer_of(file, R"({"eos_token": "<none>"})"), Error);
  const Folder copy;
  tokenizer->save(copy.path());
  EXPECT_EQ(load_tokenizer(copy.path())->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(load_tokenizer(copy.path())->specials().eos, 260);
}

}  // namespace
}  // namespace onceover
