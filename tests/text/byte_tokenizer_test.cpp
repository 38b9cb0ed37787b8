#include "text/byte_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

nlohmann::json saved_json(const std::filesystem::path& folder) {
  return nlohmann::json::parse(read_bytes(folder / "tokenizer.json"));
}

TEST(ByteTokenizer, EveryByteIsItsOwnId) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(tokenizer.encode(std::string_view("a\xE2\x9C\x85\0b", 6)),
            (std::vector<int>{97, 0xE2, 0x9C, 0x85, 0, 98}));
  EXPECT_EQ(tokenizer.vocab_size(), 259);
  EXPECT_EQ(tokenizer.specials().eos, 257);
  EXPECT_EQ(ByteTokenizer({false, false, false}).vocab_size(), 256);
}

TEST(ByteTokenizer, GivesRandomBytesBack) {
  const ByteTokenizer tokenizer;
  std::mt19937 random(fresh_seed());
  const std::string bytes = random_bytes(random, 100000);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), bytes);
}

TEST(ByteTokenizer, SpecialsHaveNamesAndNoBytes) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(tokenizer.token_name(257), "<eos>");
  EXPECT_EQ(tokenizer.token_name('\n'), "<0x0A>");
  EXPECT_EQ(tokenizer.piece_bytes(257), "");
  EXPECT_EQ(tokenizer.decode(std::vector<int>{256, 'h', 'i', 257}), "hi");
}

TEST(ByteTokenizer, RefusesIdsOutsideTheVocabulary) {
  const ByteTokenizer tokenizer;
  EXPECT_THROW(tokenizer.piece_bytes(-1), Error);
  EXPECT_THROW(tokenizer.decode(std::vector<int>{259}), Error);
}

TEST(ByteTokenizer, ComesBackFromItsDirectoryTheSame) {
  for (const ByteTokenizer::Wanted wanted :
       {ByteTokenizer::Wanted{true, true, true}, {false, true, false}, {false, false, false}}) {
    const Folder folder;
    const ByteTokenizer tokenizer(wanted);
    tokenizer.save(folder.path());
    const auto loaded = load_tokenizer(folder.path());
    EXPECT_EQ(loaded->vocab_size(), tokenizer.vocab_size());
    EXPECT_EQ(loaded->fingerprint(), tokenizer.fingerprint());
    EXPECT_EQ(loaded->specials().bos, tokenizer.specials().bos);
    EXPECT_EQ(loaded->specials().eos, tokenizer.specials().eos);
    EXPECT_EQ(loaded->specials().pad, tokenizer.specials().pad);
  }
}

TEST(ByteTokenizer, ItsFileUsesTheByteLevelAlphabet) {
  const Folder folder;
  ByteTokenizer().save(folder.path());
  const auto vocab = saved_json(folder.path())["model"]["vocab"];
  EXPECT_EQ(vocab.size(), 256u);
  EXPECT_EQ(vocab["a"], 97);
  EXPECT_EQ(vocab["Ġ"], 0x20);
  EXPECT_EQ(vocab["Ċ"], 0x0A);
  EXPECT_EQ(vocab["â"], 0xE2);
  EXPECT_EQ(vocab["Ń"], 0xAD);
}

TEST(ByteTokenizer, RefusesAFileThatWouldMeanOtherIds) {
  const Folder folder;
  ByteTokenizer().save(folder.path());
  const auto good = saved_json(folder.path());
  std::vector<nlohmann::json> bad(5, good);
  bad[0]["model"]["merges"] = {"a b"};
  bad[1]["model"]["vocab"]["a"] = 98;
  bad[2]["pre_tokenizer"]["type"] = "Foo";
  bad[3]["added_tokens"][0]["id"] = 300;
  bad[4].erase("decoder");
  for (const auto& json : bad) {
    EXPECT_THROW(ByteTokenizer::load(folder.write("tokenizer.json", json.dump())), Error);
  }
  for (const char* text : {"", "[]", "null", "{", "{\"model\": 3}", "{\"added_tokens\": 7}"}) {
    folder.write("tokenizer.json", text);
    EXPECT_THROW(load_tokenizer(folder.path()), Error) << text;
  }
}

TEST(LoadTokenizer, NamesWhatIsMissing) {
  const Folder folder;
  try {
    load_tokenizer(folder.path());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("tokenizer.model or tokenizer.json"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace onceover
