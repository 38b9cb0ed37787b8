#include "generate/sampler.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace onceover {
namespace {

void require_range(const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high))
    throw Error("{} must be from {} to {}, found {}", name, low, high, value);
}

}  // namespace

void check_settings(const SamplerSettings& s) {
  require_range("temperature", s.temperature, 0, 100);
  require_range("top_k", s.top_k, 0, 1 << 30);
  require_range("top_p", s.top_p, 0, 1);
  require_range("min_p", s.min_p, 0, 1);
  require_range("repetition_penalty", s.repetition_penalty, 0.01, 100);
}

Sampler::Sampler(const SamplerSettings& settings) : settings_(settings) { check_settings(settings); }

int32_t Sampler::pick(std::span<const float> logits, std::span<const int32_t> history) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); i++) {
    if (std::isfinite(logits[i])) candidates_.push_back({static_cast<int32_t>(i), logits[i]});
  }
  if (candidates_.empty()) throw Error("the model gives no finite logit for the next token");
  if (settings_.repetition_penalty != 1) penalise(history);
  const auto less_likely = [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; };
  if (settings_.temperature == 0) return std::ranges::max_element(candidates_, less_likely)->token;
  keep_likely();
  return draw();
}

void Sampler::penalise(std::span<const int32_t> history) {
  met_.assign(static_cast<size_t>(candidates_.back().token) + 1, false);  // candidates are by token here
  for (const int32_t token : history) {
    if (static_cast<size_t>(token) < met_.size()) met_[static_cast<size_t>(token)] = true;
  }
  for (Candidate& c : candidates_) {
    if (!met_[static_cast<size_t>(c.token)]) continue;
    c.weight =
        c.weight > 0 ? c.weight / settings_.repetition_penalty : c.weight * settings_.repetition_penalty;
  }
}

// Leaves the candidates sorted, likeliest first, with probabilities that add up to 1 before top-p and min-p
// cut them.
void Sampler::keep_likely() {
  std::ranges::stable_sort(candidates_,
                           [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  if (settings_.top_k > 0 && static_cast<size_t>(settings_.top_k) < candidates_.size()) {
    candidates_.resize(static_cast<size_t>(settings_.top_k));
  }
  const double largest = candidates_.front().weight;
  double sum = 0;
  for (Candidate& c : candidates_) sum += c.weight = std::exp((c.weight - largest) / settings_.temperature);
  size_t kept = 0;
  double reached = 0;
  for (Candidate& c : candidates_) {
    c.weight /= sum;
    const bool wanted = kept == 0 || (reached < settings_.top_p && c.weight >= settings_.min_p / sum);
    if (!wanted) break;
    reached += c.weight;
    kept++;
  }
  candidates_.resize(kept);
}

int32_t Sampler::draw() {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  double left = random_unit(settings_.seed, draws_++) * total;
  for (const Candidate& c : candidates_) {
    left -= c.weight;
    if (left < 0) return c.token;
  }
  return candidates_.back().token;
}

}  // namespace onceover
