// The seeds of fuzz/model_file.cpp: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "models/model_file.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfModelFilesIsAnsweredAsEver) {
  const TemporaryFolder folder;
  const auto names = accepted_seeds("model_file", [&](const std::string& bytes) {
    write_bytes((folder / "seed").string(), bytes);
    ModelFile(folder / "seed");
  });
  EXPECT_EQ(names, (std::set<std::string>{"gpt2", "gptneox", "llama", "llama2c", "llama2c_untied", "qwen3"}));
}

}  // namespace
}  // namespace onceover
