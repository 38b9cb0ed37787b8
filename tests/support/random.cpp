#include "support/random.h"

#include <cmath>
#include <string>

#include "base/hash.h"
#include "support/fresh_seed.h"

namespace onceover::test {
namespace {

reference::Vector random_weight(const WeightSpec& spec, uint64_t seed) {
  std::mt19937_64 engine(hash64(spec.name, seed));
  std::normal_distribution<double> normal;
  reference::Vector values(spec.elements());
  const Init& init = spec.init;
  for (size_t i = 0; i < values.size(); i++) {
    const double draw = normal(engine);
    double value = draw / std::sqrt(static_cast<double>(spec.shape.back()));
    if (init.rule == Init::Rule::Constant) value = init.scale + 0.1 * draw;
    if (init.rule == Init::Rule::Values) value = init.values[i] + 0.3 * draw * init.values.back();
    values[i] = static_cast<float>(value);
  }
  return values;
}

}  // namespace

FreshRandom::FreshRandom() : seed_(fresh_seed()), engine_(seed_) {}

std::vector<double> FreshRandom::normals(size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = normal();
  return values;
}

std::vector<int> FreshRandom::tokens(int64_t count, int vocab) {
  std::vector<int> values(count);
  for (int& token : values) token = static_cast<int>(between(0, vocab - 1));
  return values;
}

std::vector<int64_t> FreshRandom::split(int64_t total) {
  std::vector<int64_t> parts;
  for (; total > 0; total -= parts.back()) parts.push_back(between(1, total));
  return parts;
}

reference::Weights random_weights(const Plan& plan, uint64_t seed) {
  reference::Weights weights;
  for (const WeightSpec& spec : plan.weights) weights.push_back(random_weight(spec, seed));
  return weights;
}

reference::Weights moved_by_rounding(reference::Weights weights, uint64_t draw) {
  constexpr double rounding = 1.2e-7;
  std::mt19937_64 engine(draw);
  for (auto& weight : weights) {
    for (double& value : weight) value *= engine() % 2 == 0 ? 1 + rounding : 1 - rounding;
  }
  return weights;
}

}  // namespace onceover::test
