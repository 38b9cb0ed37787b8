// Ids of two thousand fresh texts each, by Hugging Face's own library where Node.js finds its package
// "tokenizers" (NODE_PATH=…/node_modules).
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/utf8.h"
#include "support/places.h"
#include "support/temporary_folder.h"
#include "text/bpe_vocabulary.h"
#include "text/huggingface_files.h"
#include "text/samples.h"

namespace onceover {
namespace {

constexpr int texts_each = 2000;

// Merges of neighbours in the thirty scripts: of two symbols, of two such pairs, and so on.
template <class Symbols>
std::vector<std::pair<std::string, std::string>> merges_of(Symbols symbols_of) {
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<std::string> made;
  for (const std::string& line : thirty_scripts()) {
    std::vector<std::string> symbols = symbols_of(line);
    for (int level = 0; level < 3; level++) {
      std::vector<std::string> longer;
      for (size_t i = 0; i + 1 < symbols.size(); i += 2) {
        longer.push_back(symbols[i] + symbols[i + 1]);
        if (std::find(made.begin(), made.end(), longer.back()) != made.end()) continue;
        made.push_back(longer.back());
        merges.emplace_back(symbols[i], symbols[i + 1]);
      }
      symbols = std::move(longer);
    }
  }
  return merges;
}

std::vector<std::string> byte_symbols(const std::string& line) {
  std::vector<std::string> symbols;
  for (const char c : line) symbols.push_back(byte_level_alphabet()[static_cast<unsigned char>(c)]);
  return symbols;
}

std::vector<std::string> character_symbols(const std::string& line) {
  std::vector<std::string> symbols;
  for (size_t at = 0; at < line.size();) {
    std::string symbol;
    append_utf8(symbol, next_code_point(line, at));
    symbols.push_back(symbol == " " ? "▁" : symbol);
  }
  return symbols;
}

std::string byte_level_json(const std::string& split) {
  BpeVocabulary vocabulary;
  vocabulary.split = split;
  vocabulary.tokens.assign(byte_level_alphabet().begin(), byte_level_alphabet().end());
  vocabulary.merges = merges_of(byte_symbols);
  for (const auto& [left, right] : vocabulary.merges) vocabulary.tokens.push_back(left + right);
  return tokenizer_files(vocabulary, split).tokenizer;
}

std::string byte_fallback_json() {
  Json file = fallback_file();
  Json& vocab = file["model"]["vocab"];
  const auto add = [&](const std::string& token) {
    if (!vocab.contains(token)) vocab[token] = vocab.size();
  };
  for (const auto& [left, right] : merges_of(character_symbols)) {
    for (const std::string& token : {left, right, left + right}) add(token);
    file["model"]["merges"].push_back({left, right});
  }
  file["version"] = "1.0";
  file["added_tokens"] = Json::array();
  return file.dump();
}

// Letters, what composes with them or sorts past them, Hangul in parts, forms of compatibility, a mark
// younger than the library's tables.
std::string random_marks(std::mt19937& random) {
  static const std::vector<std::string> parts = {"e",      "q",      " ",      "\u0301", "\u0316", "\u0327",
                                                 "\u0344", "\u3099", "\u304B", "\uFF9E", "\uFF76", "\u1100",
                                                 "\u1161", "\u11A8", "\uFB01", "\u1E9B", "\u0323", "\u0898"};
  std::string text;
  for (size_t count = random() % 30; count > 0; count--) text += parts[random() % parts.size()];
  return text;
}

class Library : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("node -e 'require(\"tokenizers\")' 2>/dev/null") != 0)
      GTEST_SKIP() << "no Node.js with the package tokenizers";
  }

  // reserves_space_symbol: "▁" in a text means a space to the library, itself to us.
  void expect_equal(const std::string& tokenizer_json, const std::string& name, bool reserves_space_symbol) {
    SCOPED_TRACE(name);
    std::mt19937 random(fresh_seed());
    Json texts = Json::array();
    for (int i = 0; i < texts_each; i++) {
      std::string text = i % 4 == 0 ? random_marks(random)
                                    : display_utf8(random_text(random, 1 + static_cast<int>(random() % 20)));
      for (size_t at; reserves_space_symbol && (at = text.find("▁")) != std::string::npos;) text.erase(at, 3);
      texts.push_back(std::move(text));
    }
    const TemporaryFolder folder;
    write_bytes(folder / "tokenizer.json", tokenizer_json);
    write_bytes(folder / "texts.json", texts.dump());
    const std::string script = (test::source_folder() / "tests/text/oracle.js").string();
    const std::string command = fmt::format(
        "node '{0}' '{1}/tokenizer.json' '{1}/texts.json' > '{1}/ids.json'", script, folder.path().string());
    ASSERT_EQ(std::system(command.c_str()), 0);
    const Json expected = Json::parse(read_bytes(folder / "ids.json"));
    const HuggingFaceTokenizer tokenizer(tokenizer_json, "", name);
    ASSERT_EQ(expected.size(), texts.size());
    for (size_t i = 0; i < texts.size(); i++) {
      ASSERT_EQ(tokenizer.encode(texts[i].get<std::string>()), expected[i].get<Ids>()) << texts[i];
    }
  }
};

TEST_F(Library, GivesTheIdsOfEverySplit) {
  for (const char* split : {"gpt-2", "llama-bpe", "qwen2", "gpt-4o"})
    expect_equal(byte_level_json(split), split, false);
}

TEST_F(Library, GivesTheIdsOfByteFallback) { expect_equal(byte_fallback_json(), "byte fallback", true); }

TEST_F(Library, GivesTheIdsOfNormalForms) {
  for (const char* form : {"NFC", "NFKC"}) {
    Json file = Json::parse(byte_level_json("gpt-2"));
    file["normalizer"] = {{"type", form}};
    expect_equal(file.dump(), form, false);
  }
}

TEST_F(Library, GivesTheIdsOfNeoX) {
  const auto file = test::source_folder() / "../shared/data/tokenizers/20B_tokenizer.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no ../shared/data/tokenizers/20B_tokenizer.json";
  expect_equal(read_bytes(file), "NeoX", false);
}

}  // namespace
}  // namespace onceover
