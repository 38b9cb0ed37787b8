// The seeds of fuzz/run_state.cpp and fuzz/train_settings.cpp: each is still answered with success or an
// Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/hex.h"
#include "base/json.h"
#include "train/settings.h"
#include "train/state_json.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfRunStatesIsAnsweredAsEver) {
  const auto names = accepted_seeds("run_state", [](const std::string& text) {
    nlohmann::json json = parse_json(text, "seed");
    if (json.is_object() && !json.contains("check")) json["check"] = to_hex(hash64(json.dump()));
    state_from_json(json, "seed");
  });
  EXPECT_EQ(names, (std::set<std::string>{"ok"}));
}

TEST(FuzzCorpus, OfTrainSettingsIsAnsweredAsEver) {
  const auto names = accepted_seeds("train_settings",
                                    [](const std::string& text) { train_settings_from_toml(text, "seed"); });
  EXPECT_EQ(names, (std::set<std::string>{"rins_stochastic", "small", "tiny"}));
}

}  // namespace
}  // namespace onceover
