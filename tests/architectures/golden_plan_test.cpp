// Every wiring as text, held against tests/golden/plans. After a change that is meant:
//   ONCEOVER_UPDATE_GOLDEN=1 build/release/test_architectures --gtest_filter='GoldenPlan*'
// writes the files anew; read the diff before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

const std::string folder = (test::source_folder() / "tests/golden/plans/").string();

std::vector<std::pair<std::string, Config>> wirings() {
  std::vector<std::pair<std::string, Config>> all;
  for (const Architecture& architecture : all_architectures()) {
    all.emplace_back(architecture.name, *find_preset(architecture.name + "-tiny"));
  }
  Config retention = *find_preset("yoco-tiny");
  retention.self_mixer = Mixer::Retention;
  all.emplace_back("yoco-retention", retention);
  Config routed = *find_preset("yoco-u-tiny");
  routed.num_experts = 8;
  routed.num_experts_per_tok = 2;
  routed.moe_intermediate_size = 32;
  routed.shared_expert_intermediate_size = 32;
  all.emplace_back("yoco-u-routed", routed);
  return all;
}

// The first line that differs, with its number; whole plans are too long for a message.
std::string first_difference(const std::string& found, const std::string& expected) {
  std::istringstream a(found), b(expected);
  for (int line = 1;; line++) {
    std::string x, y;
    const bool more_found = !std::getline(a, x).fail(), more_expected = !std::getline(b, y).fail();
    if (!more_found && !more_expected) return "";
    if (x != y || more_found != more_expected)
      return "line " + std::to_string(line) + "\n  golden " + y + "\n  found  " + x;
  }
}

TEST(GoldenPlan, IsWhatTheArchitectureRecords) {
  const bool update = std::getenv("ONCEOVER_UPDATE_GOLDEN") != nullptr;
  for (const auto& [name, config] : wirings()) {
    const std::string path = folder + name + ".txt";
    const std::string text = build(config).text();
    if (update) write_bytes(path, text);
    EXPECT_EQ(first_difference(text, read_bytes(path)), "")
        << path << "\nif the change is meant: ONCEOVER_UPDATE_GOLDEN=1 build/release/test_architectures "
        << "--gtest_filter='GoldenPlan*'";
  }
}

TEST(GoldenPlan, DifferentWiringsHaveDifferentFingerprints) {
  std::set<uint64_t> fingerprints;
  for (const auto& [name, config] : wirings()) fingerprints.insert(build(config).fingerprint());
  EXPECT_EQ(fingerprints.size(), wirings().size());
}

TEST(RecordedPlan, HasNoRopeWithoutPositionEmbeddings) {
  for (const Mixer mixer : {Mixer::Attention, Mixer::Retention}) {
    Config c = *find_preset("yoco-tiny");
    c.self_mixer = mixer;
    EXPECT_NE(build(c).text().find("= rope"), std::string::npos);
    c.self_position_embedding = c.cross_position_embedding = PositionEmbedding::None;
    EXPECT_EQ(build(c).text().find("= rope"), std::string::npos);
  }
}

TEST(GoldenPlan, InitialisationIsNotMeaning) {
  Config c = *find_preset("yoco-u-tiny");
  const uint64_t before = build(c).fingerprint();
  c.initializer = Initializer::Yoco;
  EXPECT_EQ(build(c).fingerprint(), before);
  c.rope_theta = 20000;
  EXPECT_NE(build(c).fingerprint(), before);
}

}  // namespace
}  // namespace onceover
