#include "plan/rope_angles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace onceover {
namespace {

double llama3_frequency(double frequency, const RopeScaling& s) {
  const double waves = s.original_length * frequency / (2 * std::numbers::pi);  // in the original length
  if (waves < s.low_freq_factor) return frequency / s.factor;
  if (waves > s.high_freq_factor) return frequency;
  const double kept = (waves - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - kept) * frequency / s.factor + kept * frequency;
}

// The pair, as a real number, that makes `turns` turns in the original length.
double pair_of_turns(double turns, int dims, double theta, const RopeScaling& s) {
  return dims * std::log(s.original_length / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
}

void scale_yarn(std::vector<double>& frequencies, int dims, double theta, const RopeScaling& s) {
  const double low = std::max(std::floor(pair_of_turns(s.beta_fast, dims, theta, s)), 0.0);
  const double high = std::min(std::ceil(pair_of_turns(s.beta_slow, dims, theta, s)), dims - 1.0);
  const double width = high == low ? 0.001 : high - low;
  for (size_t j = 0; j < frequencies.size(); j++) {
    const double divided = std::clamp((static_cast<double>(j) - low) / width, 0.0, 1.0);
    frequencies[j] = frequencies[j] / s.factor * divided + frequencies[j] * (1 - divided);
  }
}

std::string scaling_text(const RopeScaling& s) {
  switch (s.kind) {
    case RopeScaling::Kind::None:
      return "";
    case RopeScaling::Kind::Linear:
      return fmt::format(" linear factor={}", s.factor);
    case RopeScaling::Kind::Llama3:
      return fmt::format(" llama3 factor={} low={} high={} original={}", s.factor, s.low_freq_factor,
                         s.high_freq_factor, s.original_length);
    case RopeScaling::Kind::Yarn:
      break;
  }
  return fmt::format(" yarn factor={} fast={} slow={} original={} magnitude={}", s.factor, s.beta_fast,
                     s.beta_slow, s.original_length, s.magnitude);
}

}  // namespace

double yarn_magnitude(double factor) { return factor <= 1 ? 1 : 0.1 * std::log(factor) + 1; }

std::vector<double> rope_frequencies(const RopeAngles& angles, int64_t head_dim) {
  const int dims = angles.turned_dims(head_dim), pairs = dims / 2;
  const int steps = angles.linspace ? std::max(pairs - 1, 1) : pairs;
  std::vector<double> frequencies;
  for (int j = 0; j < pairs; j++)
    frequencies.push_back(std::pow(angles.theta, -static_cast<double>(j) / steps));
  const RopeScaling& s = angles.scaling;
  if (s.kind == RopeScaling::Kind::Linear) {
    for (double& frequency : frequencies) frequency /= s.factor;
  } else if (s.kind == RopeScaling::Kind::Llama3) {
    for (double& frequency : frequencies) frequency = llama3_frequency(frequency, s);
  } else if (s.kind == RopeScaling::Kind::Yarn) {
    scale_yarn(frequencies, dims, angles.theta, s);
  }
  return frequencies;
}

std::string rope_angles_text(const RopeAngles& angles) {
  return fmt::format("theta={}{}{}{}", angles.theta,
                     angles.dims > 0 ? fmt::format(" dims={}", angles.dims) : "",
                     angles.linspace ? " linspace" : "", scaling_text(angles.scaling));
}

}  // namespace onceover
