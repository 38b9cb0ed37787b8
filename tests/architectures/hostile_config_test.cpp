// What a config.json from a stranger may hold: every text ends in a Config or an Error, soon and in little
// memory.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "architectures/config.h"
#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "support/errors.h"
#include "support/fresh_seed.h"

namespace onceover {
namespace {

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; i++) text += piece;
  return text;
}

TEST(HostileConfig, TextThatIsNoConfigIsRefused) {
  const std::string key = R"({"architecture":"transformer","rope_theta":)";
  const std::vector<std::string> texts = {
      "",
      " ",
      "[]",
      "[{}]",
      "null",
      "5",
      "\"transformer\"",
      "{",
      "{}",
      "{\"architecture\":\"transformer\"",
      "{\"architecture\":null}",
      "{\"architecture\":\"\"}",
      "\xff\xfe",
      std::string("\0", 1),
      key + "NaN}",
      key + "Infinity}",
      key + "1e400}",
      key + "1e308}",
      key + "-1e308}",
      key + "1e-320}",
      key + "0x10}",
      key + "+1}",
      key + "null,}",
      key + "[" + "]}",
      key + "{}}",
      R"({"architecture":"transformer","architecture":"yoco"})",
      R"({"architecture":"transformer","vocab_size":1,"vocab_size":2})",
      R"({"architecture":"transformer","vocab_size":99999999999999999999999999})",
      R"({"architecture":"transformer","vocab_size":18446744073709551616})",
      R"({"architecture":"transformer","vocab_size":-9223372036854775809})",
      R"({"architecture":"transformer","\u0000":1})",
      repeated("[", 100000),
      repeated("{\"a\":", 100000),
      repeated("[", 100000) + repeated("]", 100000),
      R"({"architecture":"transformer","auto_map":)" + repeated("[", 5000) + repeated("]", 5000) + "}"};
  for (const std::string& text : texts) {
    EXPECT_THROW(config_from_text(text, "config.json"), Error) << text.substr(0, 80);
  }
}

TEST(HostileConfig, LongFindingsAreCutShortInTheMessage) {
  const std::string text =
      R"({"architecture":"transformer","vocab_size":")" + repeated("long", 50000) + "\"}";
  try {
    config_from_text(text, "config.json");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_LT(std::string(e.what()).size(), 300u);
  }
}

TEST(HostileConfig, NumbersThatAreNotFiniteAreRefused) {
  for (double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    nlohmann::json json = {{"architecture", "transformer"}};
    json["rms_norm_eps"] = value;
    EXPECT_THROW(config_from_json(json, "config.json"), Error) << value;
  }
}

TEST(HostileConfig, ItsNamesCannotReachTheTerminalRaw) {
  for (const char* text :
       {R"({"architecture": "\u001b[2J"})", R"({"architecture": "yoco", "\u001b[2J": 1})"}) {
    const std::string message = error_of([&] { config_from_text(text, "test"); });
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
  }
}

TEST(HostileConfig, RandomDamageToAGoodConfigEndsInAConfigOrAnError) {
  std::mt19937 random(fresh_seed());
  const std::string good = config_to_json(*find_preset("yoco-u-tiny")).dump();
  int refused = 0;
  for (int trial = 0; trial < 2000; trial++) {
    std::string text = good;
    for (int change = 1 + static_cast<int>(random() % 3); change > 0; change--) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random());
      else
        text.erase(at, 1 + random() % 8);
    }
    try {
      check_config(config_from_text(text, "config.json"), "config.json");
    } catch (const Error&) {
      refused++;
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace onceover
