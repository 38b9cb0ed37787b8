// What the tests of model files share: logits of a file by the oracle, and their comparison.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "architectures/registry.h"
#include "models/families.h"
#include "support/errors.h"
#include "support/oracle.h"

namespace onceover {

inline reference::Weights wide(const std::vector<std::vector<float>>& numbers) {
  reference::Weights weights;
  for (const auto& weight : numbers) weights.emplace_back(weight.begin(), weight.end());
  return weights;
}

inline straight::Rows oracle_logits(const ModelFile& file, const std::vector<int>& text) {
  const Plan plan = build(file.config());
  straight::Rows rows;
  for (const auto& [row, logits] : test::all_logits(plan, wide(file.read(plan)), text))
    rows.push_back(logits);
  return rows;
}

// Relative to the largest expected logit.
inline void expect_logits(const straight::Rows& found, const straight::Rows& expected,
                          double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0, difference = 0;
  for (size_t n = 0; n < found.size(); n++) {
    ASSERT_EQ(found[n].size(), expected[n].size());
    for (size_t j = 0; j < found[n].size(); j++) {
      largest = std::max(largest, std::abs(expected[n][j]));
      difference = std::max(difference, std::abs(found[n][j] - expected[n][j]));
    }
  }
  EXPECT_GT(largest, 0.1);
  EXPECT_LE(difference, tolerance * largest);
}

inline std::string write_file(const TemporaryFolder& folder, const char* name, const std::string& bytes) {
  write_bytes((folder / name).string(), bytes);
  return (folder / name).string();
}

}  // namespace onceover
