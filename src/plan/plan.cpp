#include "plan/plan.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace onceover {
namespace {

std::string init_text(const Init& init) {
  switch (init.rule) {
    case Init::Rule::Constant:
      return fmt::format("constant {:.6g}", init.scale);
    case Init::Rule::Normal:
      return fmt::format("normal {:.6g}", init.scale);
    case Init::Rule::Uniform:
      return fmt::format("uniform {:.6g}", init.scale);
    case Init::Rule::Values:
      break;
  }
  std::string text = "values";
  for (double value : init.values) text += fmt::format(" {:.6g}", value);
  return text;
}

std::string step_text(const Plan& plan, size_t i) {
  const Step& step = plan.steps[i];
  std::string line = fmt::format("%{} [{}] = {}", i, step.width, op_name(step.op));
  for_inputs(step.op, [&](const char* label, ValueId v, Reads) { line += fmt::format(" {}=%{}", label, v); });
  for_weights(step.op, [&](const char* label, WeightId w) {
    line += fmt::format(" {}={}", label, plan.weights[w].name);
  });
  const std::string settings = op_settings(step.op);
  if (!settings.empty()) line += " " + settings;
  return line + fmt::format("  ; {} loop {}", plan.scopes[step.scope], step.loop);
}

}  // namespace

std::string Plan::text() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); i++) text += step_text(*this, i) + "\n";
  text += fmt::format("logits %{}\n", logits);
  for (const auto& w : weights) {
    text += fmt::format("weight {} {} {}<-{} init {}\n", w.name, shape_text(w.shape),
                        w.out_space.empty() ? "-" : w.out_space, w.in_space.empty() ? "-" : w.in_space,
                        init_text(w.init));
  }
  return text;
}

uint64_t Plan::fingerprint() const {
  // Initialisation is not meaning: the same model may start from other numbers.
  std::string meaning;
  for (size_t i = 0; i < steps.size(); i++) meaning += step_text(*this, i) + "\n";
  meaning += fmt::format("logits %{}\n", logits);
  for (const auto& w : weights) meaning += w.name + shape_text(w.shape) + "\n";
  return hash64(meaning);
}

void require_positions(const Plan& plan, int64_t end) {
  for (const Step& step : plan.steps) {
    const auto* embed = std::get_if<Embed>(&step.op);
    if (embed == nullptr || embed->by != Lookup::Row) continue;
    const WeightSpec& table = plan.weights[embed->table];
    if (end > table.shape[0])
      throw Error("{} tokens are more than the {} positions of '{}'", end, table.shape[0], table.name);
  }
}

int layer_of(const std::string& scope) {
  const std::string key = ".layers.";
  const size_t at = scope.find(key);
  return at == std::string::npos ? -1 : std::atoi(scope.c_str() + at + key.size());
}

std::string place_of(const Plan& plan, ValueId value) {
  const Step& step = plan.steps[value];
  return fmt::format("{} ({}), loop {}", plan.scopes[step.scope], op_name(step.op), step.loop);
}

}  // namespace onceover
