// What a plan says about one weight: enough to allocate, initialise, load, shard and count it without knowing
// the model.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace onceover {

// How a fresh weight is filled. Every weight draws from its own stream (seed and name), so order does not
// matter.
struct Init {
  enum class Rule {
    Constant,  // every element = scale
    Normal,    // normal, mean 0, standard deviation = scale
    Uniform,   // uniform in [-scale, scale]
    Values,    // element i = values[i]
  };
  Rule rule = Rule::Normal;
  double scale = 0.02;
  std::vector<double> values;

  static Init constant(double value) { return {Rule::Constant, value, {}}; }
  static Init normal(double deviation) { return {Rule::Normal, deviation, {}}; }
  static Init uniform(double bound) { return {Rule::Uniform, bound, {}}; }
  static Init of(std::vector<double> values) { return {Rule::Values, 0, std::move(values)}; }
};

// Shapes follow Hugging Face: a linear map is [out, in], a stack of experts [experts, out, in], a norm
// [width]. in_space and out_space name what the columns and rows index ("residual", "ffn", "vocab", "heads",
// "kv", …), so that up-scaling can align two layers; "" where a weight has no such side.
struct WeightSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::string out_space, in_space;
  Init init;
  bool quantise = false;   // large matrices only; norms and scalars stay in full precision
  int shard_axis = -1;     // axis that tensor parallelism would split; -1 = replicated
  bool embedding = false;  // counted apart: rows are looked up, not multiplied

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};

}  // namespace onceover
