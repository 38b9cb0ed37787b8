// docs/adding-an-architecture.md tells the truth: its code is the code that runs here, and the model is what
// the page says it is.
#include "middle_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"
#include "support/oracle.h"
#include "support/places.h"
#include "support/random.h"
#include "support/unroll.h"

namespace onceover::test {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(test::source_folder() / path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Every text between a line with `first` and the next with `last`, moved left by the indent of its first
// line.
std::vector<std::string> passages(const std::vector<std::string>& lines, const std::string& first,
                                  const std::string& last) {
  std::vector<std::string> found;
  bool inside = false;
  size_t indent = std::string::npos;
  for (const std::string& line : lines) {
    if (!inside && line.find(first) != std::string::npos) {
      inside = true;
      indent = std::string::npos;
      found.emplace_back();
    } else if (inside && line.find(last) != std::string::npos) {
      inside = false;
    } else if (inside) {
      if (indent == std::string::npos) indent = line.find_first_not_of(' ');
      found.back() += (line.empty() ? line : line.substr(indent)) + "\n";
    }
  }
  return found;
}

std::vector<std::string> blocks_of_the_page(const std::string& tag) {
  return passages(lines_of("docs/adding-an-architecture.md"), "```" + tag, "```");
}

TEST(AddingAnArchitecture, ThePagesCodeIsTheCodeThatRuns) {
  const auto marked = passages(lines_of("tests/reference/middle_cycle.cpp"), "// [page: ", "// [page: end]");
  EXPECT_EQ(marked.size(), 3U);
  EXPECT_EQ(blocks_of_the_page("cpp"), marked);
}

TEST(AddingAnArchitecture, ThePagesConfigHasOnlyKnownKeys) {
  const auto blocks = blocks_of_the_page("json");
  ASSERT_EQ(blocks.size(), 1U);
  const nlohmann::json config = parse_json(blocks[0], "page");
  EXPECT_EQ(config["architecture"], middle_cycle_entry().name);
  std::vector<std::string> known = {"architecture"};
  for (const ConfigKey& key : config_keys()) known.push_back(key.name);
  for (const auto& [key, value] : config.items())
    EXPECT_NE(std::find(known.begin(), known.end(), key), known.end()) << key;
}

TEST(AddingAnArchitecture, ThePagesStepsAreStepsOfThePlan) {
  const auto blocks = blocks_of_the_page("text");
  ASSERT_EQ(blocks.size(), 1U);
  const std::string plan = middle_cycle_model().plan.text();
  std::istringstream block(blocks[0]);
  for (std::string line; std::getline(block, line);) {
    if (line == "…") continue;
    EXPECT_NE(plan.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << plan;
  }
}

TEST(AddingAnArchitecture, MiddleCycleIsTheTransformerWithItsMiddleLayersCopied) {
  FreshRandom random;
  const Model looped = middle_cycle_model();
  ASSERT_EQ(looped.loops, 2);
  Config deep = tiny_config("transformer");
  deep.num_hidden_layers = 6;
  const Plan plan = tiny_model("deep", deep).plan;
  const int source[] = {0, 1, 2, 1, 2, 3};
  const reference::Weights weights = random_weights(looped.plan, random.seed());
  const reference::Weights copies =
      copy_layers(plan, looped.plan, weights, [&](int layer) { return source[layer]; });
  const std::vector<int> text = random.tokens(12, deep.vocab_size);
  EXPECT_EQ(all_logits(plan, copies, text), all_logits(looped.plan, weights, text));
}

}  // namespace
}  // namespace onceover::test
