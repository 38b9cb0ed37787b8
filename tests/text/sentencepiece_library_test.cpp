// Models of every kind, trained here by the library: the ids are those of the library alone.
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <array>
#include <map>
#include <thread>

#include "base/mapped_file.h"
#include "base/utf8.h"
#include "support/places.h"
#include "text/sentencepiece_models.h"

namespace onceover {
namespace {

class Lines : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return at_ == repeats * lines().size(); }
  void Next() override { at_++; }
  const std::string& value() const override { return lines()[at_ % lines().size()]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  static constexpr size_t repeats = 20;
  static const std::vector<std::string>& lines() {
    static const std::vector<std::string> all = [] {
      std::vector<std::string> lines = thirty_scripts();
      lines.emplace_back("the theme of the thesis: aaa 111  (x) <sep> the end 2024");
      return lines;
    }();
    return all;
  }
  size_t at_ = 0;
};

struct Trained {
  std::string name, model;
  bool exact;
};

std::string train(const std::string& type, const std::string& rule, int size, bool fallback,
                  std::unordered_map<std::string, std::string> more = {}) {
  more.insert({{"model_type", type},
               {"normalization_rule_name", rule},
               {"vocab_size", std::to_string(size)},
               {"hard_vocab_limit", "false"},
               {"character_coverage", "0.98"},
               {"byte_fallback", fallback ? "true" : "false"},
               {"user_defined_symbols", "<sep>,ﬁ,ab"},
               {"minloglevel", "2"}});
  Lines lines;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(more, &lines, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

const std::vector<Trained>& models() {
  static const std::vector<Trained> all = {
      {"unigram", train("unigram", "nmt_nfkc", 700, false), false},
      {"unigram, case folded, bytes", train("unigram", "nfkc_cf", 900, true), false},
      {"unigram that keeps texts",
       train("unigram", "identity", 900, true, {{"remove_extra_whitespaces", "false"}}), true},
      {"unigram that keeps spaces, without a prefix",
       train("unigram", "nfkc", 700, false,
             {{"remove_extra_whitespaces", "false"}, {"add_dummy_prefix", "false"}}),
       false},
      {"unigram of sentences",
       train("unigram", "nmt_nfkc", 700, false,
             {{"split_by_whitespace", "false"}, {"add_dummy_prefix", "false"}}),
       false},
      {"BPE", train("bpe", "nmt_nfkc", 700, false), false},
      {"BPE, not normalised", train("bpe", "identity", 700, false, {{"remove_extra_whitespaces", "false"}}),
       false},
      {"BPE with bytes", train("bpe", "nmt_nfkc_cf", 900, true), false},
      {"characters", train("char", "nmt_nfkc", 400, false), false},
  };
  return all;
}

// Of every kind: words, spaces of many sorts, what NFKC and case folding change, marks, broken bytes,
// symbols.
std::string any_text(std::mt19937& random) {
  static const std::vector<std::string> odd = {
      "Ｆｕｌｌ", "ﬁ",     "ﬀ",   "①",    "㌔",     "ﷺ",      "é",       "e\u0301", "ÅΣς",    "ẞ",
      "İ",        "각",    "ｶﾞ",  "　",   "\u00A0", "\u200B", "\u2028",  "\r\n",    "\t",     "\x01",
      "\x7F",     "<sep>", "ab",  "a",    "aaa",    "111",    "the ",    " thesis", "\uFEFF", "▁",
      "▁▁",       "<unk>", "<s>", "</s>", "<0x41>", "\u0300", " \u0301", "깰깰",    "𐍈",      "\xED\xA0\x80",
      "\xC0"};
  std::string text;
  for (unsigned parts = random() % 12; parts > 0; parts--)
    text += random() % 3 == 0 ? random_text(random, 2) : odd[random() % odd.size()];
  return random() % 20 == 0 ? random_bytes(random, random() % 40) : text;
}

void expect_ids_of_library(const SentencePieceTokenizer& tokenizer,
                           const sentencepiece::SentencePieceProcessor& library, const std::string& text) {
  const auto ids = tokenizer.encode(text);
  const auto expected = library.EncodeAsIds(text);
  ASSERT_EQ(ids, expected) << text;
  // The library shows the unknown piece as a mark, and takes away more than one space that U+2581 wrote.
  if (std::count(ids.begin(), ids.end(), library.unk_id()) > 0 || text.find("▁") != text.npos) return;
  std::string back;
  ASSERT_TRUE(library.Decode(ids, &back).ok());
  ASSERT_EQ(tokenizer.decode(ids), back) << text;
}

TEST(SentencePieceOfAnyKind, HasTheLibrarysIdsAndTexts) {
  std::mt19937 random(fresh_seed());
  for (const auto& [name, model, exact] : models()) {
    SCOPED_TRACE(name);
    const SentencePieceTokenizer tokenizer(model, name);
    EXPECT_EQ(tokenizer.is_exact(), exact);
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(model).ok());
    for (int i = 0; i < 2000; i++) {
      const std::string text = any_text(random);
      if (exact) {
        ASSERT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
        if (!is_utf8(text) || text.find("▁") != text.npos) continue;
      }
      expect_ids_of_library(tokenizer, library, text);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SentencePieceOfAnyKind, NeverGivesControlTokensForATextButFindsThemInAPrompt) {
  for (const auto& [name, model, exact] : models()) {
    const SentencePieceTokenizer tokenizer(model, name);
    for (const int id : tokenizer.encode("<s>a</s> <unk>"))
      EXPECT_TRUE(id != tokenizer.specials().bos && id != tokenizer.specials().eos) << name;
    const auto prompt = tokenizer.encode_prompt("<s>a</s>", {}, TextPosition::Start);
    EXPECT_EQ(prompt.front(), tokenizer.specials().bos);
    EXPECT_EQ(prompt.back(), tokenizer.specials().eos);
  }
}

TEST(SentencePieceOfAnyKind, GivesOneUnknownTokenForARunHoweverLong) {
  for (const auto& [name, model, exact] : models()) {
    const SentencePieceTokenizer tokenizer(model, name);
    std::string run;
    for (int i = 0; i < 3000; i++) run += "깰";
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(model).ok());
    EXPECT_EQ(tokenizer.encode("a" + run + " a"), library.EncodeAsIds("a" + run + " a")) << name;
    for (int i = 0; i < 100000; i++) run += "깰";
    const auto ids = tokenizer.encode("a" + run + " a");
    EXPECT_EQ(tokenizer.decode(ids).find("a"), 0u) << name;
    EXPECT_LE(ids.size(), name.find("bytes") != name.npos || exact ? 310010u : 5u) << name;
  }
}

TEST(SentencePieceOfAnyKind, CutsTextsOfMegabytesBetweenWords) {
  std::string text;
  while (text.size() < (9u << 17)) text += "the theme of the thesis ";
  text += "the end";
  for (const char* kind : {"unigram", "unigram that keeps texts", "BPE"}) {
    const auto& [name, model, exact] =
        *std::find_if(models().begin(), models().end(), [&](const Trained& m) { return m.name == kind; });
    const SentencePieceTokenizer tokenizer(model, name);
    const auto ids = tokenizer.encode(text);
    EXPECT_EQ(tokenizer.decode(ids), text) << name;
    const std::string words = text.substr(0, 24 * 1000);
    const size_t few = tokenizer.encode(words).size(), in_words = text.size() / 24;
    EXPECT_LE(ids.size(), (few / 1000 + 1) * (in_words + 2)) << name;
  }
}

TEST(SentencePieceOfAnyKind, PutsASpaceBetweenStretchesWhereTheModelRemovesSpaces) {
  const SentencePieceTokenizer tokenizer(models()[0].model, "unigram");
  std::vector<int> ids;
  tokenizer.encode("the theme\n", TextPosition::Start, ids);
  tokenizer.encode("of the thesis", TextPosition::Inside, ids);
  EXPECT_EQ(tokenizer.decode(ids), "the theme of the thesis");
}

TEST(SentencePieceOfAnyKind, ThreadsShareATokeniser) {
  std::mt19937 random(fresh_seed());
  std::vector<std::string> texts;
  for (int i = 0; i < 200; i++) texts.push_back(any_text(random));
  for (const size_t kind : {0, 5}) {
    const SentencePieceTokenizer tokenizer(models()[kind].model, models()[kind].name);
    std::array<std::vector<std::vector<int>>, 4> ids;
    std::vector<std::thread> threads;
    for (auto& mine : ids) {
      threads.emplace_back([&] {
        for (const auto& text : texts) mine.push_back(tokenizer.encode(text));
      });
    }
    for (auto& thread : threads) thread.join();
    for (size_t i = 0; i < texts.size(); i++) {
      for (const auto& mine : ids) ASSERT_EQ(mine[i], tokenizer.encode(texts[i]));
    }
  }
}

TEST(SentencePieceOfAnyKind, HasAFingerprintOfItsOwn) {
  std::map<uint64_t, std::string> prints;
  for (const auto& [name, model, exact] : models())
    EXPECT_TRUE(prints.insert({SentencePieceTokenizer(model, name).fingerprint(), name}).second) << name;
}

// A model of the library's own tests, of 1000 unigrams, and the text that it was trained on.
TEST(SentencePieceOfAnyKind, ThePublishedUnigramModelHasTheLibrarysIds) {
  const auto data = test::source_folder() / "../shared/data/tokenizers";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no ../shared/data/tokenizers";
  const std::string model = read_text_file(data / "spm_test_model.model", 1 << 24);
  const auto tokenizer = SentencePieceTokenizer::load(data / "spm_test_model.model");
  EXPECT_FALSE(tokenizer.is_exact());
  sentencepiece::SentencePieceProcessor library;
  ASSERT_TRUE(library.LoadFromSerializedProto(model).ok());
  const std::string text = read_text_file(data / "spm_botchan.txt", 1 << 24);
  expect_ids_of_library(tokenizer, library, text);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    expect_ids_of_library(tokenizer, library, text.substr(start, end - start));
    start = end + 1;
  }
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 2000; i++) expect_ids_of_library(tokenizer, library, any_text(random));
}

}  // namespace
}  // namespace onceover
