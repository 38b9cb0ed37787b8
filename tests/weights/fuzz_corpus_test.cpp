// The fuzzers' seeds, replayed: each is still answered with success or an Error.
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "support/places.h"
#include "support/temporary_folder.h"
#include "weights/damaged_files.h"
#include "weights/tensor_files.h"

namespace onceover {
namespace {

std::filesystem::path corpus(const char* name) { return test::source_folder() / "fuzz/corpus" / name; }

// Files that f accepts; any exception but an Error escapes and fails the test.
template <class F>
std::set<std::string> accepted(const std::filesystem::path& folder, F f) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    try {
      f(read_bytes(entry.path()));
      names.insert(entry.path().stem().string());
    } catch (const Error&) {
    }
  }
  return names;
}

TEST(FuzzCorpus, OfSafetensorsIsAnsweredAsEver) {
  const auto names = accepted(corpus("safetensors_header"), [](const std::string& bytes) {
    parse_safetensors(std::as_bytes(std::span(bytes)), "seed");
  });
  EXPECT_EQ(names, (std::set<std::string>{"meta_only", "ok", "padded_header", "scalar", "zero_dim"}));
}

TEST(FuzzCorpus, OfSafetensorsHoldsTheDamagedFilesOfTheTests) {
  int compared = 0;
  for (const auto& damaged : damaged_files()) {
    if (damaged.bytes.size() > 1000) continue;  // seeds are small
    EXPECT_EQ(read_bytes(corpus("safetensors_header") / (damaged.name + ".safetensors")), damaged.bytes)
        << damaged.name;
    compared++;
  }
  EXPECT_EQ(compared, 20);
}

TEST(FuzzCorpus, OfShardIndicesIsAnsweredAsEver) {
  const auto names =
      accepted(corpus("shard_index"), [](const std::string& text) { parse_shard_index(text, "seed"); });
  EXPECT_EQ(names, (std::set<std::string>{"no_total", "ok"}));
}

}  // namespace
}  // namespace onceover
