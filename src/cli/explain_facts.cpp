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

// Applications of layers `rows.layer` to `last_layer`, in each of the loops `rows.loop` to `last_loop`, that
// run the same rows; or one unit outside the layers.
struct Block {
  Unit rows;
  int last_layer, last_loop;
  int64_t applications = 1;

  bool goes_on_with(const Unit& next) const {
    return rows.layer >= 0 && rows.same_rows(next) && next.loop == last_loop && next.layer == last_layer + 1;
  }
  bool repeats_as(const Block& next) const {
    return rows.layer >= 0 && rows.same_rows(next.rows) && next.rows.layer == rows.layer &&
           next.last_layer == last_layer && next.rows.loop == last_loop + 1;
  }
};

std::vector<Block> blocks_of(const std::vector<Unit>& units) {
  std::vector<Block> blocks;
  for (const Unit& unit : units) {
    if (!blocks.empty() && blocks.back().goes_on_with(unit)) {
      blocks.back().last_layer = unit.layer;
      blocks.back().applications++;
    } else {
      blocks.push_back({unit, unit.layer, unit.loop});
    }
  }
  return blocks;
}

std::vector<Block> with_repeats_joined(const std::vector<Block>& blocks) {
  std::vector<Block> joined;
  for (const Block& block : blocks) {
    if (!joined.empty() && joined.back().repeats_as(block)) {
      joined.back().last_loop = block.last_loop;
      joined.back().applications += block.applications;
    } else {
      joined.push_back(block);
    }
  }
  return joined;
}

std::string span(const char* word, int low, int high) {
  return low == high ? fmt::format("{} {}", word, low) : fmt::format("{}s {}-{}", word, low, high);
}

// `looped`: whether any of its layers runs in more than one loop.
RowGroup row_group(const Block& block, bool looped) {
  const Unit& rows = block.rows;
  if (rows.layer < 0) return {rows.name, 0, rows.every, rows.last, rows.none};
  std::string what = span("layer", rows.layer, block.last_layer);
  if (looped) what += ", " + span("loop", rows.loop, block.last_loop);
  return {what, block.applications, rows.every, rows.last, rows.none};
}

std::vector<RowGroup> group_rows(const Plan& plan, const Analysis& analysis) {
  const std::vector<Unit> units = units_of(plan, analysis);
  std::set<int> looped;
  for (const Unit& unit : units) {
    if (unit.loop > 0) looped.insert(unit.layer);
  }
  std::vector<RowGroup> groups;
  for (const Block& block : with_repeats_joined(blocks_of(units))) {
    const auto first = looped.lower_bound(block.rows.layer);
    groups.push_back(row_group(block, first != looped.end() && *first <= block.last_layer));
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
