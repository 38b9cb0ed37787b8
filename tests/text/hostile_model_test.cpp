#include <gtest/gtest.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/sentencepiece_models.h"

namespace onceover {
namespace {

using Type = SentencePieceModel::Type;

std::string reason_to_refuse(const std::string& file) {
  try {
    const SentencePieceTokenizer tokenizer(file, "hostile.model");
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

void expect_refused(const std::string& file, const char* reason) {
  const std::string found = reason_to_refuse(file);
  EXPECT_NE(found.find(reason), std::string::npos) << "expected '" << reason << "', found '" << found << "'";
  EXPECT_TRUE(found.starts_with("hostile.model")) << found;
}

std::string with_piece(const std::string& text, Type type, float score = 0) {
  SentencePieceModel model = byte_and_a_model();
  model.pieces.push_back({text, score, type});
  return model_file(model);
}

std::string with_setting(uint32_t message, uint32_t field, uint64_t value) {
  WireWriter inner, outer;
  inner.varint(field, value);
  outer.bytes(message, inner.message());
  return model_file(byte_and_a_model(), outer);
}

TEST(HostileModel, TheUntouchedModelIsAccepted) {
  EXPECT_EQ(reason_to_refuse(model_file(byte_and_a_model())), "");
}

TEST(HostileModel, PiecesThatTheLibraryCannotBearAreRefused) {
  expect_refused(with_piece("", Type::Normal), "is empty");
  expect_refused(with_piece(std::string("a\0b", 3), Type::UserDefined), "holds a NUL");
  expect_refused(with_piece("\xC0\x80", Type::Normal), "not valid UTF-8");
  expect_refused(with_piece(std::string(1025, 'x'), Type::UserDefined), "longer than 1024");
  expect_refused(with_piece("a", Type::UserDefined), "occurs twice");
  expect_refused(with_piece("<s>", Type::Normal), "occurs twice");
  expect_refused(with_piece("<other>", Type::Unknown), "2 pieces of type unknown");
  expect_refused(with_piece("<0x0a>", Type::Byte), "not of the form");
  expect_refused(with_piece("b", Type::Control), "control, but one character");
  expect_refused(with_piece("bb", Type::Normal, NAN), "not finite");
  expect_refused(with_piece("bb", static_cast<Type>(7)), "has type 7");
}

TEST(HostileModel, MissingPiecesAreRefused) {
  SentencePieceModel model = byte_and_a_model();
  model.pieces.erase(model.pieces.begin() + 3 + 0x41);
  expect_refused(model_file(model), "<0x41> is missing");
  model = byte_and_a_model();
  model.pieces.erase(model.pieces.begin());
  expect_refused(model_file(model), "0 pieces of type unknown");
  model = byte_and_a_model();
  std::erase_if(model.pieces, [](const auto& piece) { return piece.text == "▁"; });
  expect_refused(model_file(model), "no piece for the space");
}

TEST(HostileModel, DeepNestsOfUserSymbolsAreRefused) {
  SentencePieceModel model = byte_and_a_model();
  for (size_t length = 1; length <= 64; length++)
    model.pieces.push_back({std::string(length, 'x'), 0, Type::UserDefined});
  EXPECT_EQ(reason_to_refuse(model_file(model)), "");
  const SentencePieceTokenizer tokenizer(model_file(model), "nest");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(std::string(1000, 'x'))), std::string(1000, 'x'));
  model.pieces.push_back({std::string(65, 'x'), 0, Type::UserDefined});
  expect_refused(model_file(model), "more than 64 user-defined symbols");
}

TEST(HostileModel, ModelsOfOtherFormsAreRefused) {
  expect_refused(with_setting(2, 3, 3), "a word model");
  expect_refused(with_setting(2, 3, 0), "model type 0");
  expect_refused(with_setting(2, 3, 5), "model type 5");
  expect_refused(with_setting(2, 35, 0), "but no byte fallback");
  expect_refused(with_setting(2, 24, 1), "treat_whitespace_as_suffix");
  expect_refused(with_setting(3, 5, 0), "escape_whitespaces");
  SentencePieceModel model = byte_and_a_model();
  model.kind = SentencePieceModel::Kind::Unigram;
  for (auto& piece : model.pieces) {
    if (piece.text == "▁") piece.type = Type::Unused;
  }
  expect_refused(model_file(model), "no piece for the space");
}

void expect_table_refused(const std::string& table, const char* reason) {
  expect_refused(model_file(byte_and_a_model(), normalizer_fields(table)), reason);
}

TEST(HostileModel, TablesThatDoNotHoldTheirTreeAreRefused) {
  const std::string good = CharacterTable{{"A", "a"}, {"AB", ""}}.bytes();
  EXPECT_EQ(reason_to_refuse(model_file(byte_and_a_model(), normalizer_fields(good))), "");
  expect_table_refused("abc", "of 3 bytes");
  expect_table_refused("\xFF\xFF\xFF\xFF", "of 4 bytes says that its tree has 4294967295");
  expect_table_refused(std::string(2000, '\0'), "its tree has 0");
  expect_table_refused(std::string("\x05\0\0\0", 4) + std::string(10, 'x'), "its tree has 5");
  expect_table_refused(std::string((4 << 20) + 1, 'x'), "expected at most");
}

TEST(HostileModel, TablesThatLeadAstrayAreRefused) {
  CharacterTable table{{"A", "a"}};
  const auto with = [&](uint32_t at, uint32_t unit) {
    CharacterTable changed = table;
    changed.units[at] = unit;
    return changed.bytes();
  };
  const uint32_t a = 256 + 'A';
  expect_table_refused(with(0, 0xFFFFFF00), "leads outside its tree");
  expect_table_refused(with(a, 0x3FFFFF00 | 'A'), "leads outside its tree");
  expect_table_refused(with(a, (a ^ 256) << 10 | 'A'), "leads in a circle");
  expect_table_refused(with(512, 0x80000002), "a replacement without an end");
  expect_table_refused(with(512, 0xFFFFFFFF), "a replacement without an end");
  table.replacements = "\xFF";
  table.replacements += '\0';
  expect_table_refused(table.bytes(), "not UTF-8");
  expect_table_refused(CharacterTable{{"A", std::string(257, 'x')}}.bytes(), "of more than 256 bytes");
  expect_table_refused(CharacterTable{{std::string(257, 'A'), ""}}.bytes(), "keys of more than 256 bytes");
  const std::string longest(256, 'A');
  const SentencePieceTokenizer tokenizer(
      model_file(byte_and_a_model(), normalizer_fields(CharacterTable{{longest, "aa"}}.bytes())), "long");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(longest + "a" + longest)), "aaaaa");
}

TEST(HostileModel, NoMessageIsRefused) {
  expect_refused("", "0 pieces of type unknown");
  expect_refused("hello, world", "hostile.model");
  expect_refused(std::string(1000, '\xFF'), "varint");
  expect_refused("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "bytes, but only 0 are left");
}

TEST(HostileModel, EveryTruncationIsRefused) {
  const std::string file = sentencepiece_message(byte_and_a_model());
  for (size_t size = 0; size < file.size(); size += 7) {
    EXPECT_NE(reason_to_refuse(file.substr(0, size)), "") << size;
  }
}

TEST(HostileModel, MutatedModelsAreRefusedOrStillGiveTextsBack) {
  std::mt19937 random(fresh_seed());
  SentencePieceModel unigrams = byte_and_a_model(), unknowns = unigrams;
  unigrams.kind = SentencePieceModel::Kind::Unigram;
  std::erase_if(unknowns.pieces, [](const auto& piece) { return piece.type == Type::Byte; });
  unknowns.byte_fallback = false;
  const std::string table = CharacterTable{{"A", "a"}, {"AB", ""}, {"é", "e "}}.bytes();
  const std::string text = "a \xE2\x96\x81 aa\n<s>\x80 ✅ABAé";
  for (const std::string& file : {model_file(byte_and_a_model()), model_file(unigrams), model_file(unknowns),
                                  model_file(unigrams, normalizer_fields(table)),
                                  model_file(unknowns, normalizer_fields(table, true))}) {
    int accepted = 0;
    for (int i = 0; i < 1000; i++) {
      std::string bad = file;
      for (unsigned flips = 1 + random() % 3; flips > 0; flips--)
        bad[random() % bad.size()] ^= static_cast<char>(1u << random() % 8);
      try {
        const SentencePieceTokenizer tokenizer(bad, "mutated");
        const std::string back = tokenizer.decode(tokenizer.encode(text));
        EXPECT_TRUE(!tokenizer.is_exact() || back == text) << i;
        EXPECT_TRUE(tokenizer.is_exact() || is_utf8(back)) << i;
        accepted++;
      } catch (const Error&) {
      }
    }
    EXPECT_GT(accepted, 0);
  }
}

}  // namespace
}  // namespace onceover
