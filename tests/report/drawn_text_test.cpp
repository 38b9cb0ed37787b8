#include "report/drawn_text.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "report/markup.h"
#include "support/fresh_seed.h"

namespace onceover {
namespace {

TEST(DrawnText, OverlongTornAndSurrogateSequencesAreReplaced) {
  for (const std::string bad : {"\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF", "\xC3"}) {
    EXPECT_EQ(clean_text(bad).substr(0, 3), "\xEF\xBF\xBD");
    EXPECT_TRUE(is_utf8(clean_text(bad)));
  }
}

TEST(DrawnText, RandomBytesBecomeSafeText) {
  std::mt19937 random(fresh_seed());
  for (int round = 0; round < 300; round++) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const std::string clean = clean_text(bytes), escaped = escape_markup(bytes);
    EXPECT_TRUE(is_utf8(clean));
    EXPECT_EQ(clean_text(clean), clean);
    EXPECT_EQ(escaped.find_first_of("<>\"'"), std::string::npos);
    for (const unsigned char c : escaped) EXPECT_TRUE(c >= 0x20 || c == '\n' || c == '\t');
    EXPECT_LE(text_columns(shorten(clean, 7)), 7);
  }
}

TEST(DrawnText, ShorteningKeepsWholeCharacters) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("longer", 5), "long…");
  EXPECT_EQ(shorten("世界世界", 5), "世界…");
  EXPECT_EQ(shorten("世界世界", 4), "世…");
  EXPECT_EQ(shorten("x", 0), "");
  EXPECT_EQ(shorten("世", 1), "…");
}

TEST(Markup, EscapesWhatCouldEndTextOrAttribute) {
  EXPECT_EQ(escape_markup("<a href=\"x\" & 'y'>"), "&lt;a href=&quot;x&quot; &amp; &#39;y&#39;&gt;");
  EXPECT_EQ(escape_markup("bell\x07"), "bell\xEF\xBF\xBD");
}

}  // namespace
}  // namespace onceover
