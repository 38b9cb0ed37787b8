#include <gtest/gtest.h>

#include "base/error.h"
#include "text/huggingface_files.h"
#include "text/samples.h"

namespace onceover {
namespace {

std::string reason_to_refuse(const std::string& text) {
  try {
    const HuggingFaceTokenizer tokenizer(text, "", "hostile.json");
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

void expect_refused(const std::string& text, const char* reason) {
  const std::string found = reason_to_refuse(text);
  EXPECT_NE(found.find(reason), std::string::npos) << "expected '" << reason << "', found '" << found << "'";
  EXPECT_TRUE(found.starts_with("hostile.json")) << found;
}

// The file with `value` at a JSON pointer.
std::string with(const char* place, const Json& value, Json file = byte_level_file()) {
  file[Json::json_pointer(place)] = value;
  return file.dump();
}

TEST(HostileTokenizerJson, TheUntouchedFilesAreAccepted) {
  EXPECT_EQ(reason_to_refuse(byte_level_file().dump()), "");
  EXPECT_EQ(reason_to_refuse(fallback_file().dump()), "");
}

TEST(HostileTokenizerJson, WhatIsNotKnownIsRefusedByName) {
  expect_refused(with("/pre_tokenizer/type", "Foo"), "'Foo'");
  expect_refused(with("/normalizer", {{"type", "Lowercase"}}), "'Lowercase'");
  expect_refused(with("/decoder/type", "Metaspace"), "'Metaspace'");
  expect_refused(with("/model/type", "Unigram"), "'Unigram'");
  expect_refused(with("/model/dropout", 0.1), "dropout");
  expect_refused(with("/model/continuing_subword_prefix", "##"), "continuing_subword_prefix");
  expect_refused(split_file("a", "MergedWithNext").dump(), "'MergedWithNext'");
  expect_refused(with("/pre_tokenizer", nullptr), "neither a ByteLevel");
  expect_refused(with("/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", "b"}}),
                 "anything but a text");
  expect_refused(with("/decoder/decoders/1/type", "Foo", fallback_file()), "'Foo'");
  expect_refused(with("/normalizer", nullptr, fallback_file()), "does not undo");
}

TEST(HostileTokenizerJson, WrongTypesAreRefused) {
  for (const char* place : {"/model", "/model/vocab", "/model/merges", "/added_tokens", "/model/merges/0",
                            "/model/vocab/a", "/pre_tokenizer", "/normalizer", "/decoder"}) {
    for (const Json& value : {Json(3.5), Json(-1), Json("text"), Json(true), Json::array({1, 2, 3})})
      EXPECT_NE(reason_to_refuse(with(place, value)), "") << place << " " << value;
  }
  for (const char* text : {"", "null", "3", "[]", "{}", "{\"model\":", "{\"model\":{}}", "\xFF"})
    EXPECT_NE(reason_to_refuse(text), "") << text;
}

TEST(HostileTokenizerJson, IdsMustBeUniqueAndNotFarApart) {
  expect_refused(with("/model/vocab/ab", 97), "both have id 97");
  expect_refused(with("/model/vocab/ab", uint64_t{1} << 40), "whole number");
  expect_refused(with("/model/vocab/ab", 1'000'000), "whole number");
  EXPECT_EQ(reason_to_refuse(with("/model/vocab/ab", 1000)), "");
  expect_refused(with("/added_tokens", Json::array({added_token(97, "<s>", true)})), "both have id 97");
  expect_refused(with("/added_tokens", Json::array({added_token(300, "ab", true)})), "has the ids");
  expect_refused(with("/added_tokens", Json::array({added_token(300, "", true)})), "1 to 1024 bytes");
  expect_refused(
      with("/added_tokens", Json::array({added_token(300, "x y", true), added_token(301, "x y", true)})),
      "occurs twice");
}

TEST(HostileTokenizerJson, MergesMustBeOfTokensAndKeepTheText) {
  expect_refused(with("/model/merges/0", "a c"), "'ac' is not in the vocabulary");
  expect_refused(with("/model/merges/0", "zz a"), "'zz' is not in the vocabulary");
  expect_refused(with("/model/merges/0", "a b c"), "a space between");
  expect_refused(with("/model/merges/0", "ab"), "a space between");
  expect_refused(with("/model/merges/0", Json::array({"a"})), "two texts");
  expect_refused(with("/model/merges/0", Json::array({"", "ab"})), "not in the vocabulary");
  expect_refused(with("/added_tokens", Json::array({added_token(256, "ab", true)})), "would change the text");
}

TEST(HostileTokenizerJson, ByteFallbackNeedsEveryByte) {
  Json file = fallback_file();
  file["model"]["vocab"].erase("<0x41>");
  expect_refused(file.dump(), "<0x41>");
}

TEST(HostileTokenizerJson, MutatedFilesAreRefusedOrStillGiveTextsBack) {
  std::mt19937 random(fresh_seed());
  const std::string text = "a \xE2\x96\x81 aa\n<s>\x80 ✅ ab";
  int accepted = 0;
  for (const std::string& file : {byte_level_file().dump(), fallback_file().dump()}) {
    for (int i = 0; i < 400; i++) {
      std::string bad = file;
      for (unsigned changes = 1 + random() % 2; changes > 0; changes--)
        bad[random() % bad.size()] = static_cast<char>(0x20 + random() % 0x5F);
      try {
        const HuggingFaceTokenizer tokenizer(bad, "", "mutated");
        const auto ids = tokenizer.encode(text);
        EXPECT_TRUE(!tokenizer.is_exact() || tokenizer.decode(ids) == text) << bad;
        accepted++;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace onceover
