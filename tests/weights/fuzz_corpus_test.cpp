// The fuzzers' seeds, replayed: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "weights/damaged_files.h"
#include "weights/tensor_files.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfSafetensorsIsAnsweredAsEver) {
  const auto names = accepted_seeds("safetensors_header", [](const std::string& bytes) {
    parse_safetensors(std::as_bytes(std::span(bytes)), "seed");
  });
  EXPECT_EQ(names, (std::set<std::string>{"meta_only", "ok", "padded_header", "scalar", "zero_dim"}));
}

TEST(FuzzCorpus, OfSafetensorsHoldsTheDamagedFilesOfTheTests) {
  int compared = 0;
  for (const auto& damaged : damaged_files()) {
    if (damaged.bytes.size() > 1000) continue;  // seeds are small
    EXPECT_EQ(read_bytes(fuzz_corpus("safetensors_header") / (damaged.name + ".safetensors")), damaged.bytes)
        << damaged.name;
    compared++;
  }
  EXPECT_EQ(compared, 20);
}

TEST(FuzzCorpus, OfShardIndicesIsAnsweredAsEver) {
  const auto names =
      accepted_seeds("shard_index", [](const std::string& text) { parse_shard_index(text, "seed"); });
  EXPECT_EQ(names, (std::set<std::string>{"no_total", "ok"}));
}

}  // namespace
}  // namespace onceover
