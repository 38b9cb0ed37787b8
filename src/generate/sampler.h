// The next token from logits.
//
// In order, as Hugging Face and vLLM do: repetition penalty (arXiv 1909.05858: logits of tokens met before
// are divided by it if positive, else multiplied), temperature, top-k, top-p (the smallest set of likeliest
// tokens with that much probability), min-p (arXiv 2407.01082: at least that share of the likeliest's
// probability), then one draw. Temperature 0 takes the likeliest; of equal ones the lowest id. Equal seeds
// and logits give equal tokens with one mathematical library. One thread per sampler.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onceover {

struct SamplerSettings {
  double temperature = 0.8;
  int top_k = 0;     // 0 = all
  double top_p = 1;  // 1 = all
  double min_p = 0;  // 0 = all
  double repetition_penalty = 1;
  uint64_t seed = 0;
};

// Error naming the setting that is out of range.
void check_settings(const SamplerSettings& settings);

class Sampler {
 public:
  explicit Sampler(const SamplerSettings& settings);

  // `history`: the tokens before, prompt included. Error when no logit is finite.
  int32_t pick(std::span<const float> logits, std::span<const int32_t> history);

 private:
  struct Candidate {
    int32_t token;
    double weight;  // a logit, then a probability
  };
  void penalise(std::span<const int32_t> history);
  void keep_likely();
  int32_t draw();

  SamplerSettings settings_;
  uint64_t draws_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<bool> met_;  // by token
};

}  // namespace onceover
