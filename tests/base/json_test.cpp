#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/errors.h"

namespace onceover {
namespace {

std::string refusal(std::string_view text) {
  return error_of([&] { parse_json(text, "x.json"); });
}

TEST(ParseJson, ReadsWhatIsWellFormed) { EXPECT_EQ(parse_json(R"({"a": [1, null]})", "x.json")["a"][0], 1); }

TEST(ParseJson, RefusesARepeatedKeyByName) {
  EXPECT_TRUE(contains(refusal(R"({"a": 1, "a": 2})"), "key 'a' occurs twice"));
}

TEST(ParseJson, TakesOneKeyInTwoObjects) {
  EXPECT_NO_THROW(parse_json(R"({"a": {"b": 1}, "c": {"b": 2}})", "x.json"));
}

TEST(ParseJson, RefusesDeepNestingWithoutRecursion) {
  EXPECT_NO_THROW(parse_json(std::string(60, '[') + std::string(60, ']'), "x.json"));
  EXPECT_TRUE(contains(refusal(std::string(100'000, '[')), "nested deeper"));
}

TEST(ParseJson, RefusesWhatFollowsANulByte) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(contains(refusal("{}\0{}"sv), "NUL at byte 2"));
}

TEST(ParseJson, KeepsMessagesShortAndPrintable) {
  const std::string message = refusal("{\"" + std::string(1 << 20, 'k') + "\x1b");
  EXPECT_LT(message.size(), 500U);
  EXPECT_FALSE(contains(message, "\x1b"));
}

}  // namespace
}  // namespace onceover
