#include "base/utf8.h"

#include <gtest/gtest.h>

#include "text/samples.h"

namespace onceover {
namespace {

const std::string shown_replacement = "\xEF\xBF\xBD";

TEST(Utf8, CharactersOfEveryLengthAreWhole) {
  EXPECT_EQ(utf8_char_bytes("a"), 1u);
  EXPECT_EQ(utf8_char_bytes("é!"), 2u);
  EXPECT_EQ(utf8_char_bytes("깰"), 3u);
  EXPECT_EQ(utf8_char_bytes("😀"), 4u);
  EXPECT_EQ(utf8_char_bytes(std::string_view("\0", 1)), 1u);
}

TEST(Utf8, OverlongSurrogateAndTooLargeFormsAreNoCharacters) {
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x9C", "\xE2\x9Cx", ""}) {
    EXPECT_EQ(utf8_char_bytes(bad), 0u);
    EXPECT_EQ(is_utf8(bad), std::string_view(bad).empty());
  }
}

TEST(Utf8, OnlyBytesThatMayStillBecomeACharacterAreUnfinished) {
  EXPECT_EQ(utf8_unfinished_bytes("a\xE2\x9C"), 2u);
  EXPECT_EQ(utf8_unfinished_bytes("a\xF0\x9F\x98"), 3u);
  EXPECT_EQ(utf8_unfinished_bytes("\xE2"), 1u);
  EXPECT_EQ(utf8_unfinished_bytes("✅"), 0u);
  EXPECT_EQ(utf8_unfinished_bytes("\xE0\x80"), 0u);  // no character begins so
  EXPECT_EQ(utf8_unfinished_bytes("\x9C\x85"), 0u);
  EXPECT_EQ(utf8_unfinished_bytes(""), 0u);
}

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t code = 0; code <= 0x10FFFF; code++) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), code);
    ASSERT_EQ(at, text.size());
  }
}

TEST(Utf8, AByteThatBeginsNoCharacterReadsAsOneReplacement) {
  for (const std::string bad :
       {"\x80x", "\xC0\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x9C"}) {
    size_t at = 0;
    EXPECT_EQ(next_code_point(bad, at), replacement_character);
    EXPECT_EQ(at, 1u);
  }
}

TEST(Utf8, EachInvalidByteIsShownAsOneReplacementCharacter) {
  EXPECT_EQ(display_utf8("a\xEA\xB9"), "a" + shown_replacement + shown_replacement);
  EXPECT_EQ(display_utf8("a\xEA"
                         "a"),
            "a" + shown_replacement + "a");
  EXPECT_EQ(display_utf8("✅"), "✅");
}

TEST(Utf8, DisplayedTextIsValidAndKeepsValidText) {
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 2000; i++) {
    const std::string bytes = random_text(random, 5);
    const std::string shown = display_utf8(bytes);
    EXPECT_TRUE(is_utf8(shown));
    EXPECT_TRUE(!is_utf8(bytes) || shown == bytes);
    EXPECT_EQ(display_utf8(shown), shown);
  }
}

TEST(Utf8, ACutNeverSplitsACharacter) {
  const std::string text = "a✅😀é깰";
  for (size_t limit = 4; limit <= text.size(); limit++) {
    const size_t cut = utf8_cut(text, limit);
    EXPECT_LE(cut, limit);
    EXPECT_TRUE(is_utf8(text.substr(0, cut)) && is_utf8(text.substr(cut))) << limit;
  }
  EXPECT_EQ(utf8_cut("\x80\x80\x80\x80\x80", 3), 3u);
}

}  // namespace
}  // namespace onceover
