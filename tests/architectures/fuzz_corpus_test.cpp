// The seeds of fuzz/config.cpp: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "architectures/config.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfConfigsIsAnsweredAsEver) {
  const auto names =
      accepted_seeds("config", [](const std::string& text) { config_from_text(text, "seed"); });
  EXPECT_EQ(names, (std::set<std::string>{"gpt2", "gpt_neox", "llama", "llama3", "mistral", "ouro", "plus",
                                          "qwen2", "qwen3", "retention", "rins", "routed", "yoco_u"}));
}

}  // namespace
}  // namespace onceover
