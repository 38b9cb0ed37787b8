// Inference on packed weights against the oracle on the numbers that they stand for: what is left is the
// rounding of activations.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/batch_support.h"
#include "cpu/engine.h"
#include "cpu/tolerances.h"
#include "support/models.h"
#include "support/oracle.h"
#include "support/random.h"

namespace onceover::cpu {
namespace {

using test::FreshRandom;
using test::Model;

// The numbers of every weight, as the engine has them.
reference::Weights stored_numbers(const Plan& plan, const InferenceWeights& weights) {
  reference::Weights numbers;
  for (WeightId id = 0; id < std::ssize(plan.weights); ++id) {
    std::vector<double>& to = numbers.emplace_back();
    const auto shape = packed_shape(plan, id, weights.format());
    if (!shape) {
      const float* data = weights.table().data[static_cast<size_t>(id)];
      to.assign(data, data + plan.weights[id].elements());
      continue;
    }
    kernels::PackedMatrix matrix = weights.table().packed[static_cast<size_t>(id)];
    std::vector<float> row(static_cast<size_t>(matrix.inputs));
    for (int64_t i = 0; i < shape->count; ++i, matrix.data += matrix.bytes()) {
      for (int64_t o = 0; o < matrix.outputs; ++o) {
        kernels::unpack_row(matrix, o, row.data());
        to.insert(to.end(), row.begin(), row.end());
      }
    }
  }
  return numbers;
}

class WeightFormats : public testing::TestWithParam<Model> {};

TEST_P(WeightFormats, EqualTheOracleOnTheStoredNumbers) {
  FreshRandom random;
  const Model& model = GetParam();
  const auto weights = test::random_weights(model.plan, random.seed());
  const auto tokens = random.tokens(50, model.config.vocab_size);
  std::vector<std::vector<float>> single;
  for (const auto& weight : weights) single.emplace_back(weight.begin(), weight.end());
  for (const WeightTolerance& t : weight_tolerances) {
    if (kernels::is_quantised(t.format) && is_routed(model.plan)) continue;
    const auto packed = std::make_shared<InferenceWeights>(model.plan, t.format, single);
    const auto numbers = stored_numbers(model.plan, *packed);
    const test::ExactLogits exact(model.plan, numbers, tokens);
    InferenceEngine engine(model.plan, packed);
    int64_t fed = 0;
    for (int64_t piece : random.split(50)) {
      const auto logits = engine.feed(std::span(tokens).subspan(fed, piece));
      fed += piece;
      ASSERT_LT(test::relative_difference(logits, exact.row(fed - 1)), exact.allowed(fed - 1, t.logits()))
          << "format " << weight_format_name(t.format) << " token " << fed - 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, WeightFormats, testing::ValuesIn(test::tiny_models()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace onceover::cpu
