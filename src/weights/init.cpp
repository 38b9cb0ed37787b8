// Only + - * / and sqrt, which IEEE 754 rounds in one way, and no fused multiply-add (CMakeLists.txt):
// std::log, std::cos and std::normal_distribution differ between libraries.
#include "weights/init.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/hash.h"
#include "base/random.h"

namespace onceover {
namespace {

// Natural logarithm for 0 < x < 1: x = m 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh((m - 1) / (m +
// 1)).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, exponent--;
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
  return 2 * t * sum + exponent * 0.69314718055994531;
}

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  double x = 0;
  if (r <= 5) {
    r -= 1.6;
    x = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
        ((0.12021132975 * r + 0.73700164250) * r + 1);
  } else {
    r -= 5;
    x = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
        ((0.012258202635 * r + 0.24197894225) * r + 1);
  }
  return q < 0 ? -x : x;
}

void initialise(const WeightSpec& spec, uint64_t seed, std::span<float> out) {
  const Init& init = spec.init;
  const auto elements = static_cast<size_t>(spec.elements());
  if (out.size() != elements || (init.rule == Init::Rule::Values && init.values.size() != elements)) {
    throw std::logic_error(fmt::format("weight {} has {} elements, not {}", spec.name, elements,
                                       out.size() != elements ? out.size() : init.values.size()));
  }
  const uint64_t key = hash64(spec.name, seed);
  for (size_t i = 0; i < elements; i++) {
    double value = init.scale;
    if (init.rule == Init::Rule::Normal) value *= normal_quantile(random_unit(key, i));
    if (init.rule == Init::Rule::Uniform) value *= 2 * random_unit(key, i) - 1;
    if (init.rule == Init::Rule::Values) value = init.values[i];
    out[i] = static_cast<float>(value);
  }
}

std::vector<std::vector<float>> initial_weights(const Plan& plan, uint64_t seed) {
  std::vector<std::vector<float>> weights;
  for (const auto& spec : plan.weights) {
    weights.emplace_back(static_cast<size_t>(spec.elements()));
    initialise(spec, seed, weights.back());
  }
  return weights;
}

}  // namespace onceover
