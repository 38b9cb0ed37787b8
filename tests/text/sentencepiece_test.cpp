#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "text/folder.h"
#include "text/sentencepiece_models.h"

namespace onceover {
namespace {

using Type = SentencePieceModel::Type;

SentencePieceTokenizer trained() { return SentencePieceTokenizer(trained_model(), "trained"); }

std::vector<int> ids_of_library(const std::string& model, const std::string& text) {
  sentencepiece::SentencePieceProcessor processor;
  EXPECT_TRUE(processor.LoadFromSerializedProto(model).ok());
  return processor.EncodeAsIds(text);
}

TEST(SentencePiece, GivesEveryRandomTextBack) {
  const auto tokenizer = trained();
  const SentencePieceTokenizer prefixed(model_file(byte_and_a_model()), "prefixed");
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 3000; i++) {
    const std::string text =
        i % 3 == 0 ? random_bytes(random, random() % 60) : random_text(random, 1 + i % 30);
    ASSERT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    ASSERT_EQ(prefixed.decode(prefixed.encode(text)), text);
  }
}

TEST(SentencePiece, GivesRunsOfWhitespaceBack) {
  const auto tokenizer = trained();
  for (const std::string text :
       {" ", "  ", "a  b   c", "\n\n\n", " \n ", "\t\tx", "\r\n", "x ", " x", "", "\xEF\xBB\xBFx"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(SentencePiece, GivesLongRunsBack) {
  const auto tokenizer = trained();
  for (const char* unit : {"a", " ", "\n", "✅", "\xE2\x96\x81", "\x80"}) {
    std::string text;
    while (text.size() < 300000) text += unit;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(SentencePiece, HasTheLibrarysIdsForTextThatTheLibraryKeeps) {
  std::mt19937 random(fresh_seed());
  const std::string prefixed = model_file(byte_and_a_model());
  const SentencePieceTokenizer with_prefix(prefixed, "prefixed");
  const auto tokenizer = trained();
  for (int i = 0; i < 300; i++) {
    std::string text;
    for (int part = 0; part < 12; part++) {
      text +=
          thirty_scripts()[random() % thirty_scripts().size()] + (random() % 2 ? "\n " : "  aa a<0x41></s> ");
    }
    EXPECT_EQ(tokenizer.encode(text), ids_of_library(trained_model(), text));
    EXPECT_EQ(with_prefix.encode(text), ids_of_library(prefixed, text));
  }
}

TEST(SentencePiece, PiecesThatSpanWordsKeepTheirIds) {
  SentencePieceModel model = byte_and_a_model();
  for (const char* text : {"a▁", "a▁a", "\na", "▁\n"}) model.pieces.push_back({text, 0.5F, Type::Normal});
  model.pieces.push_back({"\n", 0, Type::Normal});
  model.pieces.push_back({"a\na", 0, Type::UserDefined});
  const std::string file = model_file(model);
  const SentencePieceTokenizer tokenizer(file, "spanning");
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 2000; i++) {
    std::string text;
    for (int c = 0; c < 20; c++) text += "a \nb"[random() % 4];
    ASSERT_EQ(tokenizer.encode(text), ids_of_library(file, text));
    ASSERT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(SentencePiece, UnknownCharactersBecomeBytesAndLiteralByteNamesStayText) {
  const SentencePieceTokenizer tokenizer(model_file(byte_and_a_model()), "D8");
  // ▁a, then the three bytes of 깰.
  EXPECT_EQ(tokenizer.encode("a깰"), (std::vector<int>{261, 237, 188, 179}));
  EXPECT_EQ(tokenizer.encode("a <0xEA>"), (std::vector<int>{261, 259, 63, 51, 123, 72, 68, 65}));
  EXPECT_EQ(tokenizer.decode(std::vector<int>{261, 237, 188}), "a\xEA\xB9");
}

TEST(SentencePiece, StretchesOfATextDecodeToTheText) {
  std::mt19937 random(fresh_seed());
  const SentencePieceTokenizer tokenizer(model_file(byte_and_a_model()), "prefixed");
  for (int i = 0; i < 500; i++) {
    const std::string text = random_text(random, 8);
    const size_t cut = text.empty() ? 0 : random() % text.size() + 1;
    std::vector<int> ids;
    tokenizer.encode(std::string_view(text).substr(0, cut), TextPosition::Start, ids);
    tokenizer.encode(std::string_view(text).substr(cut), TextPosition::Inside, ids);
    ASSERT_EQ(tokenizer.decode(ids), text);
  }
}

TEST(SentencePiece, ThreadsShareATokeniser) {
  const auto tokenizer = trained();
  const unsigned seed = fresh_seed();
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (unsigned t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + t / 2);
      bool all = true;
      for (int i = 0; i < 300; i++) {
        const std::string text = random_text(random, 10);
        all = all && tokenizer.decode(tokenizer.encode(text)) == text;
      }
      same[t] = all;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(same, (std::array<bool, 4>{true, true, true, true}));
}

TEST(SentencePiece, ComesBackFromItsDirectoryTheSame) {
  const Folder folder;
  const auto tokenizer = trained();
  tokenizer.save(folder.path());
  const auto loaded = load_tokenizer(folder.path());
  EXPECT_EQ(folder.read("tokenizer.model"), trained_model());
  EXPECT_EQ(loaded->fingerprint(), tokenizer.fingerprint());
  EXPECT_EQ(loaded->encode("All human beings"), tokenizer.encode("All human beings"));
  EXPECT_EQ(loaded->specials().bos, 1);
  EXPECT_EQ(loaded->specials().eos, 2);
  EXPECT_EQ(loaded->specials().pad, 3);
}

TEST(SentencePiece, PutsBosBeforeATextUnlessItsConfigSaysNo) {
  const Folder folder;
  auto tokenizer = trained();
  EXPECT_TRUE(tokenizer.specials().adds_bos);
  SpecialTokens specials = tokenizer.specials();
  specials.adds_bos = false;
  tokenizer.set_specials(specials);
  tokenizer.save(folder.path());
  EXPECT_FALSE(load_tokenizer(folder.path())->specials().adds_bos);
  std::filesystem::remove(folder.path() / "tokenizer_config.json");
  EXPECT_TRUE(load_tokenizer(folder.path())->specials().adds_bos);
}

TEST(SentencePieceTraining, LearnsWordsAndSpacesButNoNewline) {
  const auto tokenizer = trained();
  EXPECT_LT(tokenizer.encode("All human beings are born free").size(), 10u);
  EXPECT_EQ(tokenizer.encode("        ").size(), 1u);
  for (int id = 0; id < tokenizer.vocab_size(); id++) {
    const auto bytes = tokenizer.piece_bytes(id);
    EXPECT_TRUE(bytes.size() <= 1 || bytes.find('\n') == bytes.npos) << tokenizer.token_name(id);
  }
}

TEST(SentencePieceTraining, TextsThatBreakTheLibraryAreErrorsOrModels) {
  for (const std::string text :
       {"a", "a\n", "", "\x80\x81", "\xE2\x96\x81\xE2\x96\x85", "<s>", "aaaa", " ", "\t\t\t", "ab"}) {
    bool given = false;
    try {
      const std::string model = train_sentencepiece({}, [&](std::string_view& stretch) {
        stretch = text;
        return !std::exchange(given, true);
      });
      const SentencePieceTokenizer tokenizer(model, "tiny");
      EXPECT_EQ(tokenizer.decode(tokenizer.encode("<s> ab")), "<s> ab");
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("SentencePiece training"), std::string::npos) << e.what();
    }
  }
}

TEST(SentencePieceTraining, RefusesSettingsOutsideTheirRanges) {
  const TextSource none = [](std::string_view&) { return false; };
  for (const SentencePieceTraining settings :
       {SentencePieceTraining{299}, {4096, 0.5}, {4096, NAN}, {4096, 1, true, 0}, {4096, 1, true, 16, 0}}) {
    EXPECT_THROW(train_sentencepiece(settings, none), Error);
  }
}

TEST(SentencePieceTraining, AnErrorOfTheTextsIsPassedOn) {
  try {
    train_sentencepiece({}, [](std::string_view&) -> bool { throw Error("disk gone"); });
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "disk gone");
  }
}

}  // namespace
}  // namespace onceover
