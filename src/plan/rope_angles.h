// How far rotary position embedding turns: the angle of a pair is row * frequency.
//
// Frequencies of pair j of n = dims / 2 (theta^(-j/n), or theta^(-j/(n-1)) when linspace), then changed by
// the scaling:
//   Linear   divided by factor (arXiv 2306.15595)
//   Llama3   long waves divided by factor, short ones kept, a ramp between (transformers, rope_type "llama3")
//   Yarn     the same by the number of turns in the original length, and cosines and sines multiplied by the
//   magnitude (arXiv 2309.00071)
// Pure functions.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace onceover {

struct RopeScaling {
  enum class Kind : uint8_t { None, Linear, Llama3, Yarn };
  Kind kind = Kind::None;
  double factor = 1;
  double original_length = 0;                           // rows trained for before scaling; Llama3, Yarn
  double low_freq_factor = 1, high_freq_factor = 4;     // Llama3
  double beta_fast = 32, beta_slow = 1, magnitude = 1;  // Yarn

  auto operator<=>(const RopeScaling&) const = default;
};

struct RopeAngles {
  double theta = 10000;
  int dims = 0;           // of each head that turn, the first ones; 0 = all
  bool linspace = false;  // the last frequency is 1 / theta itself (published YOCO)
  RopeScaling scaling = {};

  int turned_dims(int64_t head_dim) const { return dims > 0 ? dims : static_cast<int>(head_dim); }
  auto operator<=>(const RopeAngles&) const = default;
};

// Radians a row, for each pair of a head: turned_dims / 2 numbers.
std::vector<double> rope_frequencies(const RopeAngles& angles, int64_t head_dim);

// What cosines and sines are multiplied by.
inline double rope_magnitude(const RopeAngles& angles) {
  return angles.scaling.kind == RopeScaling::Kind::Yarn ? angles.scaling.magnitude : 1;
}

// YaRN's own rule where a model does not say: 0.1 ln(factor) + 1.
double yarn_magnitude(double factor);

// "theta=10000", with what differs from the plain kind behind it.
std::string rope_angles_text(const RopeAngles& angles);

}  // namespace onceover
