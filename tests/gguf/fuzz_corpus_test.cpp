// The fuzzer's seeds, replayed: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "gguf/damaged_gguf.h"
#include "gguf/gguf_file.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfGgufIsAnsweredAsEver) {
  const auto names = accepted_seeds(
      "gguf", [](const std::string& bytes) { parse_gguf(std::as_bytes(std::span(bytes)), "seed"); });
  EXPECT_EQ(names, (std::set<std::string>{"ok", "ok_depth8", "ok_empty", "ok_name64", "ok_types", "ok_v2"}));
}

TEST(FuzzCorpus, OfGgufHoldsTheDamagedFilesOfTheTests) {
  int compared = 0;
  for (const DamagedGguf& damaged : damaged_ggufs()) {
    if (damaged.bytes.size() > 2000) continue;  // seeds are small
    EXPECT_EQ(read_bytes(fuzz_corpus("gguf") / (damaged.name + ".gguf")), damaged.bytes) << damaged.name;
    compared++;
  }
  EXPECT_EQ(compared, 51);
}

}  // namespace
}  // namespace onceover
