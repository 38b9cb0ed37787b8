#include "cpu/tolerances.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/places.h"

namespace onceover::cpu {
namespace {

std::string text_of(const char* page) {
  std::ostringstream text;
  text << std::ifstream(test::source_folder() / "docs" / page).rdbuf();
  return text.str();
}

TEST(Tolerances, AreThoseOfTheDocumentation) {
  const std::string performance = text_of("performance.md"), quantised = text_of("quantised-format.md");
  const auto expect_row = [](const std::string& page, const std::string& row) {
    EXPECT_NE(page.find(row), std::string::npos) << row;
  };
  for (const KvTolerance& kv : kv_tolerances)
    expect_row(performance,
               fmt::format("| f32 | {} | {:g} | {:.0f} |", kv.name, kv.logits.base, kv.logits.times_moved));
  for (const WeightTolerance& weights : weight_tolerances) {
    if (weights.format == WeightFormat::F32) continue;
    expect_row(performance, fmt::format("| {} | f32 | {:.2g} | {:.0f} |", weight_format_name(weights.format),
                                        weights.logits().base, weights.logits().times_moved));
  }
  expect_row(quantised, fmt::format("| f32, bf16, f16 | {:g} |", weight_tolerances[0].rounding));
  expect_row(quantised, fmt::format("| q8 | {:g} |", weight_tolerances[3].rounding));
  expect_row(quantised, fmt::format("| q4 | {:g} |", weight_tolerances[4].rounding));
}

}  // namespace
}  // namespace onceover::cpu
