#include "analysis/complexity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/cost.h"

namespace onceover {
namespace {

using Kind = Retention::Kind;

constexpr PlanSize smallest{8, 2, 64, 256};
constexpr int points = 4;              // sizes a variable takes, each the double of the one before
constexpr int64_t tokens_unit = 4096;  // at least the largest window: N = 1, 2, 3 of it
constexpr double negligible = 1e-9;

using Polynomial = std::array<double, 3>;       // coefficients of 1, N, N²
using Series = std::array<Polynomial, points>;  // as one variable doubles
using Measure = std::function<ByRetention(const Plan&, const Analysis&, int64_t tokens)>;

ByRetention state_elements(const Plan&, const Analysis& analysis, int64_t tokens) {
  ByRetention sum;
  for (const Slot& slot : analysis.slots)
    sum.of(slot.keep.kind) += static_cast<double>(slot.elements(tokens));
  return sum;
}

ByRetention mixing_flops(const Cost& c) {
  return {c.flops.attention_full, c.flops.attention_window, c.flops.retention};
}

ByRetention prefill_flops(const Plan& plan, const Analysis& analysis, int64_t tokens) {
  return mixing_flops(cost(plan, analysis, 0, tokens, 1));
}

ByRetention decode_flops(const Plan& plan, const Analysis& analysis, int64_t tokens) {
  return mixing_flops(cost(plan, analysis, tokens - 1, 1, 1));
}

ByRetention decode_reads(const Plan& plan, const Analysis& analysis, int64_t tokens) {
  return cost(plan, analysis, tokens - 1, 1, 1).state_elements_read;
}

// The parabola through the measure at one, two and three units of N.
Polynomial in_tokens(const std::array<double, 3>& f) {
  const double unit = tokens_unit;
  const double bend = f[2] - 2 * f[1] + f[0];
  const double c2 = bend / (2 * unit * unit);
  const double c1 = (f[1] - f[0]) / unit - 3 * c2 * unit;
  return {f[0] - c1 * unit - c2 * unit * unit, c1, c2};
}

bool matters(const Polynomial& p, int power) {
  double all = 0;
  for (int k = 0; k < 3; k++) all += std::abs(p[k]) * std::pow(3 * tokens_unit, k);
  return std::abs(p[power]) * std::pow(3 * tokens_unit, power) > negligible * all;
}

struct Line {
  double slope, residual;
};

// Least squares of log2 |increment| over the doublings; a constant has slope 0.
Line exponent(const Series& series, int power) {
  constexpr int n = points - 1;
  std::array<double, n> y{};
  for (int i = 0; i < n; i++) {
    const double step = std::abs(series[i + 1][power] - series[i][power]);
    if (step <= negligible * std::abs(series[i][power])) return {0, 0};
    y[i] = std::log2(step);
  }
  const double mean_x = (n - 1) / 2.0;
  double mean_y = 0, xy = 0, xx = 0;
  for (double value : y) mean_y += value / n;
  for (int i = 0; i < n; i++) {
    xy += (i - mean_x) * (y[i] - mean_y);
    xx += (i - mean_x) * (i - mean_x);
  }
  Line line{xy / xx, 0};
  for (int i = 0; i < n; i++) {
    line.residual = std::max(line.residual, std::abs(y[i] - mean_y - line.slope * (i - mean_x)));
  }
  return line;
}

// A plan of one size, with what was derived from it.
struct Sample {
  Plan plan;
  Analysis analysis;
};

// By variable (layers, loops, window, width) and doubling.
using Samples = std::array<std::vector<Sample>, 4>;

Samples build_samples(const PlanFamily& family) {
  constexpr std::array<int PlanSize::*, 4> variables = {&PlanSize::layers, &PlanSize::loops,
                                                        &PlanSize::window, &PlanSize::width};
  Samples samples;
  for (size_t v = 0; v < variables.size(); v++) {
    PlanSize size = smallest;
    for (int i = 0; i < points; i++) {
      Plan plan = family(size);
      Analysis analysis = analyse(plan);
      samples[v].push_back({std::move(plan), std::move(analysis)});
      size.*variables[v] *= 2;
    }
  }
  return samples;
}

Polynomial polynomial(const Sample& sample, const Measure& measure, Kind part) {
  std::array<double, 3> f{};
  for (int k = 0; k < 3; k++) f[k] = measure(sample.plan, sample.analysis, (k + 1) * tokens_unit).of(part);
  return in_tokens(f);
}

std::vector<Growth> fit_part(const Samples& samples, const Measure& measure, Kind part) {
  std::array<Series, 4> series{};
  for (size_t v = 0; v < series.size(); v++) {
    for (int i = 0; i < points; i++) series[v][i] = polynomial(samples[v][i], measure, part);
  }
  std::vector<Growth> growths;
  for (int power = 2; power >= 0; power--) {
    const Polynomial& base = series[0][0];
    if (!matters(base, power)) continue;
    std::array<Line, 4> lines{};
    for (size_t v = 0; v < lines.size(); v++) lines[v] = exponent(series[v], power);
    double residual = 0;
    for (const Line& line : lines) residual = std::max(residual, line.residual);
    growths.push_back(
        {part, power, lines[0].slope, lines[1].slope, lines[2].slope, lines[3].slope, base[power], residual});
  }
  return growths;
}

std::vector<Growth> fit(const Samples& samples, const Measure& measure) {
  std::vector<Growth> growths;
  for (Kind part : {Kind::Every, Kind::Window, Kind::Matrix}) {
    for (const Growth& growth : fit_part(samples, measure, part)) growths.push_back(growth);
  }
  return growths;
}

}  // namespace

Complexity fit_complexity(const PlanFamily& family) {
  const Samples samples = build_samples(family);
  return {fit(samples, state_elements), fit(samples, prefill_flops), fit(samples, decode_flops),
          fit(samples, decode_reads)};
}

}  // namespace onceover
