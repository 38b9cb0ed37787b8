#include <algorithm>
#include <set>

#include "architectures/registry.h"
#include "base/error.h"
#include "cli/explain.h"
#include "cli/model_source.h"

namespace onceover {
namespace {

double weight_bytes(const Plan& plan, const Storage& storage) {
  constexpr double f32_bytes = 4;
  double bytes = 0;
  for (const WeightSpec& weight : plan.weights) {
    const bool full = storage.quantised && !weight.quantise;
    bytes += static_cast<double>(weight.elements()) * (full ? f32_bytes : storage.bytes_per_element);
  }
  return bytes;
}

void count_group(std::vector<SlotGroup>& groups, const Retention& keep, std::vector<int64_t> widths) {
  for (SlotGroup& group : groups) {
    if (group.keep.kind == keep.kind && group.keep.window == keep.window && group.widths == widths) {
      group.count++;
      return;
    }
  }
  groups.push_back({keep, std::move(widths), 1});
}

bool same(const Retention& a, const Retention& b) { return a.kind == b.kind && a.window == b.window; }

std::vector<SlotGroup> group_slots(const Plan& plan, const Analysis& analysis) {
  std::vector<SlotGroup> groups;
  std::vector<bool> counted(analysis.slots.size());
  const auto slot_at = [&](ValueId v) { return analysis.slot_of[v]; };
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const auto* attend = std::get_if<Attend>(&plan.steps[i].op);
    if (attend == nullptr || analysis.demand[i] == Rows::None) continue;
    const int k = slot_at(attend->k), v = slot_at(attend->v);
    if (k == v || counted[k] || counted[v] || !same(analysis.slots[k].keep, analysis.slots[v].keep)) continue;
    counted[k] = counted[v] = true;
    count_group(groups, analysis.slots[k].keep, {analysis.slots[k].width, analysis.slots[v].width});
  }
  for (size_t s = 0; s < counted.size(); s++) {
    if (!counted[s]) count_group(groups, analysis.slots[s].keep, {analysis.slots[s].width});
  }
  return groups;
}

// The steps of one layer application, or a run of steps outside the layers.
struct Unit {
  std::string name;
  int layer, loop;
  bool every = false, last = false, none = false;

  void add(Rows demand) {
    every |= demand == Rows::All;
    last |= demand == Rows::Logits;
    none |= demand == Rows::None;
  }
  bool same_rows(const Unit& o) const { return every == o.every && last == o.last && none == o.none; }
};

std::vector<Unit> units_of(const Plan& plan, const Analysis& analysis) {
  std::vector<Unit> units;
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    const std::string& scope = plan.scopes[step.scope];
    const int layer = layer_of(scope);
    const std::string name = layer >= 0 ? "layer" : scope == "model" ? op_name(step.op) : scope;
    const bool fresh = units.empty() || units.back().layer != layer || units.back().loop != step.loop ||
                       (layer < 0 && units.back().name != name);
    if (fresh) units.push_back({name, layer, step.loop});
    units.back().add(analysis.demand[i]);
  }
  return units;
}

std::string span(const std::string& word, const std::set<int>& numbers) {
  const int low = *numbers.begin(), high = *numbers.rbegin();
  return low == high ? fmt::format("{} {}", word, low) : fmt::format("{}s {}-{}", word, low, high);
}

RowGroup row_group(const Unit* begin, const Unit* end) {
  if (begin->layer < 0) return {begin->name, 0, begin->every, begin->last, begin->none};
  std::set<int> layers, loops;
  for (const Unit* unit = begin; unit != end; unit++) layers.insert(unit->layer), loops.insert(unit->loop);
  std::string what = span("layer", layers);
  if (loops.size() > 1) what += ", " + span("loop", loops);
  return {what, end - begin, begin->every, begin->last, begin->none};
}

std::vector<RowGroup> group_rows(const Plan& plan, const Analysis& analysis) {
  const std::vector<Unit> units = units_of(plan, analysis);
  const Unit* const stop = units.data() + units.size();
  std::vector<RowGroup> groups;
  for (const Unit* begin = units.data(); begin != stop;) {
    const Unit* end = begin + 1;
    while (begin->layer >= 0 && end != stop && end->layer >= 0 && end->same_rows(*begin)) end++;
    groups.push_back(row_group(begin, end));
    begin = end;
  }
  return groups;
}

void measure(Explanation& e, const ExplainOptions& options) {
  e.context =
      options.context ? parse_tokens(*options.context, "--context") : e.config.max_position_embeddings;
  e.training_flops_per_token = training_flops_per_token(e.plan, e.context);
  e.prefill = cost(e.plan, e.analysis, 0, e.context, 1);
  e.decode = cost(e.plan, e.analysis, e.context - 1, 1, 1);
  for (const std::string& text : options.contexts) {
    const int64_t tokens = parse_tokens(text, "--contexts");
    e.memory.push_back({tokens, state_bytes(e.analysis, tokens, e.kv_storage)});
  }
  e.kv_bytes_per_token = 0;
  for (const Slot& slot : e.analysis.slots) {
    if (slot.keep.kind != Retention::Kind::Every) continue;
    e.kv_bytes_per_token += static_cast<double>(slot.width) * e.kv_storage.bytes_per_element;
  }
}

}  // namespace

double state_bytes(const Analysis& analysis, int64_t tokens, const Storage& storage) {
  constexpr double f32_bytes = 4;
  double bytes = 0;
  for (const Slot& slot : analysis.slots) {
    const bool matrix = slot.keep.kind == Retention::Kind::Matrix;
    bytes += static_cast<double>(slot.keep.rows(tokens)) * static_cast<double>(slot.width) *
             (matrix ? f32_bytes : storage.bytes_per_element);
  }
  return bytes;
}

Explanation explain_model(const ExplainOptions& options) {
  Explanation e;
  e.name = options.model;
  e.config = find_model(options.model);
  e.summary = find_architecture(e.config.architecture, options.model).summary;
  e.loops = options.loops > 0 ? options.loops : e.config.num_loops;
  e.plan = build(e.config, Run{.loops = options.loops});
  e.analysis = analyse(e.plan);
  e.parameters = count_parameters(e.plan);
  e.layer_applications = layer_applications(e.plan);
  e.weight_storage = find_storage(options.dtype, "--dtype");
  e.kv_storage = find_storage(options.kv_dtype, "--kv-dtype");
  e.weight_bytes = weight_bytes(e.plan, e.weight_storage);
  e.slot_groups = group_slots(e.plan, e.analysis);
  e.row_groups = group_rows(e.plan, e.analysis);
  measure(e, options);
  return e;
}

std::string retention_name(const Retention& keep) {
  switch (keep.kind) {
    case Retention::Kind::Every:
      return "every row";
    case Retention::Kind::Window:
      return fmt::format("{} rows", keep.window);
    case Retention::Kind::Matrix:
      break;
  }
  return "one matrix";
}

std::vector<std::string> slot_origins(const Plan& plan, const Analysis& analysis) {
  std::vector<std::string> roles(analysis.slots.size(), "matrix");
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const auto* attend = std::get_if<Attend>(&plan.steps[i].op);
    if (attend == nullptr || analysis.demand[i] == Rows::None) continue;
    roles[analysis.slot_of[attend->v]] = "values";
    roles[analysis.slot_of[attend->k]] = attend->k == attend->v ? "keys and values" : "keys";
  }
  for (size_t s = 0; s < roles.size(); s++) {
    const Step& step = plan.steps[analysis.slots[s].value];
    roles[s] += fmt::format(" of {}, loop {}", plan.scopes[step.scope], step.loop);
  }
  return roles;
}

}  // namespace onceover
