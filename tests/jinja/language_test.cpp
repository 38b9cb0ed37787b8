// cases.json holds templates with what Python's Jinja makes of them (oracle.py --update writes that).
#include <gtest/gtest.h>

#include "jinja/oracle.h"
#include "support/errors.h"

namespace onceover {
namespace {

OrderedJson cases() {
  return OrderedJson::parse(std::ifstream(test::source_folder() / "tests/jinja/cases.json"));
}

void expect_like(const OrderedJson& ours, const OrderedJson& theirs, const std::string& which) {
  // Lists stand where Python has generators, so more can be done with them.
  if (theirs.contains("error") && contains(theirs["error"], "generator")) return;
  if (theirs.contains("error")) {
    EXPECT_TRUE(ours.contains("error")) << which << "\n" << theirs << "\n" << ours;
  } else {
    EXPECT_EQ(ours, theirs) << which;
  }
}

TEST(Jinja, RendersWhatPythonsJinjaRendered) {
  ASSERT_GT(cases().size(), 100U);
  for (const auto& one : cases()) {
    expect_like(our_result(one["template"], one["context"]), one["expected"], one["template"]);
  }
}

TEST(Jinja, OracleStillSaysWhatTheCasesExpect) {
  OrderedJson all = cases();
  const auto found = oracle_results(all);
  if (!found) GTEST_SKIP() << "no Python with jinja2";
  for (size_t i = 0; i < all.size(); i++) expect_like(all[i]["expected"], (*found)[i], all[i]["template"]);
}

// Python's `safe` has the effect that what is added to it is escaped; ours has none.
std::string without_escapes(std::string text) {
  const std::pair<const char*, const char*> escapes[] = {
      {"&#34;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
  for (const auto& [from, to] : escapes) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += 1)
      text.replace(at, std::string_view(from).size(), to);
  }
  return text;
}

// Every published template with every context, and those of conversations.json: turns of all kinds, with
// tools and without.
TEST(Jinja, RunsPublishedTemplatesUnchanged) {
  const auto folder = test::source_folder() / "../shared/data/chat-templates";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared/data/chat-templates";
  auto contexts = OrderedJson::parse(std::ifstream(test::source_folder() / "tests/jinja/conversations.json"))
                      .get<std::vector<OrderedJson>>();
  for (const auto& entry : std::filesystem::directory_iterator(folder / "contexts")) {
    const auto json = OrderedJson::parse(std::ifstream(entry.path()));
    if (json.contains("messages")) {
      contexts.push_back(json);
    } else {
      for (const auto& one : json) contexts.push_back(one);
    }
  }
  OrderedJson all = OrderedJson::array();
  for (const auto& entry : std::filesystem::directory_iterator(folder / "templates")) {
    std::ifstream file(entry.path());
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    for (const OrderedJson& context : contexts)
      all.push_back({{"template", source}, {"context", context}, {"name", entry.path().filename()}});
  }
  ASSERT_GE(all.size(), 50 * 30U);
  const auto found = oracle_results(all);
  if (!found) GTEST_SKIP() << "no Python with jinja2";
  size_t rendered = 0;
  for (size_t i = 0; i < all.size(); i++) {
    OrderedJson theirs = (*found)[i];
    if (contains(all[i]["template"], "|safe") && theirs.contains("text"))
      theirs["text"] = without_escapes(theirs["text"]);
    expect_like(our_result(all[i]["template"], all[i]["context"]), theirs, all[i]["name"]);
    rendered += (*found)[i].contains("text");
  }
  EXPECT_GE(rendered, all.size() / 3);
  RecordProperty("rendered", static_cast<int>(rendered));
}

}  // namespace
}  // namespace onceover
