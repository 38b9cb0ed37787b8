#include "plan/builder.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace onceover {
namespace {

template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw std::logic_error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

Builder::Scope::Scope(Builder& builder, std::string_view name) : builder_(builder), outer_(builder.scope_) {
  builder_.scope_ += fmt::format(".{}", name);
}

Builder::Scope::~Scope() { builder_.scope_ = outer_; }

std::string Builder::full_name(std::string_view name) const { return fmt::format("{}.{}", scope_, name); }

int Builder::width(ValueId x) const {
  require(x >= 0 && static_cast<size_t>(x) < plan_.steps.size(), "value %{} does not exist", x);
  return plan_.steps[x].width;
}

WeightId Builder::weight(WeightSpec spec) {
  const auto found = weight_ids_.find(spec.name);
  if (found != weight_ids_.end()) {
    require(plan_.weights[found->second].shape == spec.shape,
            "weight {} declared twice with different shapes", spec.name);
    return found->second;
  }
  const auto id = static_cast<WeightId>(plan_.weights.size());
  weight_ids_[spec.name] = id;
  plan_.weights.push_back(std::move(spec));
  return id;
}

ValueId Builder::emit(Op op, int width) {
  const auto [entry, fresh] = scope_ids_.try_emplace(scope_, static_cast<ScopeId>(plan_.scopes.size()));
  if (fresh) plan_.scopes.push_back(scope_);
  plan_.steps.push_back({std::move(op), width, entry->second, loop_});
  return static_cast<ValueId>(plan_.steps.size() - 1);
}

ValueId Builder::embed(std::string_view name, int64_t vocab, int width, Init init, float scale) {
  const WeightId table = weight({.name = full_name(fmt::format("{}.weight", name)),
                                 .shape = {vocab, width},
                                 .out_space = "vocab",
                                 .in_space = "residual",
                                 .init = std::move(init),
                                 .quantise = true,
                                 .shard_axis = 0,
                                 .embedding = true});
  return emit(Embed{table, scale}, width);
}

ValueId Builder::embed_rows(std::string_view name, int64_t positions, int width, Init init) {
  const WeightId table = weight({.name = full_name(fmt::format("{}.weight", name)),
                                 .shape = {positions, width},
                                 .out_space = "",
                                 .in_space = "residual",
                                 .init = std::move(init),
                                 .embedding = true});
  return emit(Embed{table, 1, Lookup::Row}, width);
}

WeightId Builder::norm_weight(std::string_view name, int width, double start) {
  return weight({.name = full_name(name),
                 .shape = {width},
                 .out_space = "residual",
                 .in_space = "",
                 .init = Init::constant(start)});
}

ValueId Builder::norm(ValueId x, std::string_view name, float eps) {
  const WeightId w = norm_weight(fmt::format("{}.weight", name), width(x), 1);
  return emit(Norm{x, w, 1, eps}, width(x));
}

ValueId Builder::layer_norm(ValueId x, std::string_view name, float eps) {
  const WeightId w = norm_weight(fmt::format("{}.weight", name), width(x), 1);
  const WeightId bias = norm_weight(fmt::format("{}.bias", name), width(x), 0);
  return emit(Norm{.x = x, .weight = w, .eps = eps, .bias = bias, .centred = true}, width(x));
}

ValueId Builder::head_norm(ValueId x, int heads, float eps) {
  require(heads > 0 && width(x) % heads == 0, "width {} is not {} heads", width(x), heads);
  return emit(Norm{x, no_weight, heads, eps}, width(x));
}

ValueId Builder::shared_head_norm(ValueId x, int heads, std::string_view name, float eps) {
  require(heads > 0 && width(x) % heads == 0, "width {} is not {} heads", width(x), heads);
  const WeightId w = weight({.name = full_name(fmt::format("{}.weight", name)),
                             .shape = {width(x) / heads},
                             .out_space = "",
                             .in_space = "",
                             .init = Init::constant(1)});
  return emit(Norm{.x = x, .weight = w, .groups = heads, .eps = eps, .shared = true}, width(x));
}

ValueId Builder::linear(ValueId x, std::string_view name, const LinearSpec& spec) {
  const WeightId w = weight({.name = full_name(fmt::format("{}.weight", name)),
                             .shape = {spec.out, width(x)},
                             .out_space = spec.out_space,
                             .in_space = spec.in_space,
                             .init = spec.init,
                             .quantise = true,
                             .shard_axis = spec.shard_axis});
  if (!spec.bias) return emit(Linear{x, w}, spec.out);
  const WeightId bias = weight({.name = full_name(fmt::format("{}.bias", name)),
                                .shape = {spec.out},
                                .out_space = spec.out_space,
                                .in_space = "",
                                .init = Init::constant(0),
                                .shard_axis = spec.shard_axis == 0 ? 0 : -1});
  return emit(Linear{x, w, bias}, spec.out);
}

ValueId Builder::rope(ValueId x, int heads, const RopeAngles& angles) {
  require(heads > 0 && width(x) % heads == 0, "width {} is not {} heads", width(x), heads);
  const int head_dim = width(x) / heads, turned = angles.turned_dims(head_dim);
  require(turned > 0 && turned % 2 == 0 && turned <= head_dim, "{} of {} dims of a head cannot turn in pairs",
          turned, head_dim);
  return emit(Rope{x, heads, angles}, width(x));
}

ValueId Builder::attend(ValueId q, Kv kv, int heads, int kv_heads, Mask mask) {
  require(heads > 0 && kv_heads > 0 && heads % kv_heads == 0, "{} query heads over {} key heads", heads,
          kv_heads);
  const int head_dim = width(q) / heads;
  require(width(q) == heads * head_dim && width(kv.k) == kv_heads * head_dim,
          "query {} and key {} widths disagree", width(q), width(kv.k));
  require(width(kv.v) % kv_heads == 0, "value width {} is not {} heads", width(kv.v), kv_heads);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)));
  return emit(Attend{q, kv.k, kv.v, heads, kv_heads, mask, scale}, width(kv.v) / kv_heads * heads);
}

ValueId Builder::retain(ValueId q, Kv kv, ValueId decay, int heads, float temperature) {
  require(heads > 0 && width(q) == width(kv.k) && width(q) % heads == 0 && width(kv.v) % heads == 0,
          "retention widths q {} k {} v {} with {} heads", width(q), width(kv.k), width(kv.v), heads);
  require(width(decay) == heads, "retention decay has width {}, expected {} heads", width(decay), heads);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width(q)) / heads));
  return emit(Retain{q, kv.k, kv.v, decay, heads, temperature, scale}, width(kv.v));
}

ValueId Builder::swiglu(ValueId gate, ValueId up) {
  require(width(gate) == width(up), "swiglu of widths {} and {}", width(gate), width(up));
  return emit(Swiglu{gate, up}, width(gate));
}

ValueId Builder::activate(ValueId x, Activation function) { return emit(Activate{x, function}, width(x)); }

ValueId Builder::experts(ValueId x, int64_t count, int64_t ffn, int active, bool normalise, float balance,
                         Init in, Init out) {
  require(active > 0 && active <= count, "{} active of {} experts", active, count);
  const int64_t d = width(x);
  const auto stack = [&](const char* name, int64_t rows, int64_t columns, const char* to, const char* from,
                         const Init& init) {
    return weight({.name = full_name(name),
                   .shape = {count, rows, columns},
                   .out_space = to,
                   .in_space = from,
                   .init = init,
                   .quantise = true,
                   .shard_axis = 0});
  };
  const WeightId router = weight({.name = full_name("gate.weight"),
                                  .shape = {count, d},
                                  .out_space = "experts",
                                  .in_space = "residual",
                                  .init = in});
  const WeightId gate = stack("experts.gate_proj", ffn, d, "expert_ffn", "residual", in);
  const WeightId up = stack("experts.up_proj", ffn, d, "expert_ffn", "residual", in);
  const WeightId down = stack("experts.down_proj", d, ffn, "residual", "expert_ffn", out);
  return emit(Experts{x, router, gate, up, down, active, normalise, balance}, width(x));
}

ValueId Builder::add(ValueId a, ValueId b) {
  require(width(a) == width(b), "sum of widths {} and {}", width(a), width(b));
  return emit(Add{a, b}, width(a));
}

ValueId Builder::mix(ValueId a, ValueId b, std::string_view name, float scale) {
  require(width(a) == width(b), "mix of widths {} and {}", width(a), width(b));
  const WeightId w = weight({.name = full_name(name),
                             .shape = {2},
                             .out_space = "",
                             .in_space = "",
                             .init = Init::of({0, 1 / static_cast<double>(scale)})});
  return emit(Mix{a, b, w, scale}, width(a));
}

void Builder::logits(ValueId x, std::string_view full_name, int64_t vocab, Init init) {
  const WeightId w = weight({.name = std::string(full_name),
                             .shape = {vocab, width(x)},
                             .out_space = "vocab",
                             .in_space = "residual",
                             .init = std::move(init),
                             .quantise = true,
                             .shard_axis = 0});
  plan_.logits = emit(Logits{x, w}, static_cast<int>(vocab));
}

void Builder::restart() {
  plan_.steps.clear();
  plan_.scopes.clear();
  scope_ids_.clear();
  plan_.logits = -1;
}

Plan Builder::finish() {
  require(plan_.logits >= 0, "the architecture emitted no logits");
  return std::move(plan_);
}

}  // namespace onceover
