#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "cli/explain.h"

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;

Json flops_json(const Flops& f) {
  return {{"total", f.total()},
          {"linear", f.linear},
          {"attention_full", f.attention_full},
          {"attention_window", f.attention_window},
          {"retention", f.retention},
          {"experts", f.experts},
          {"logits", f.logits},
          {"other", f.other}};
}

Json by_retention_json(const ByRetention& b) {
  return {{"total", b.total()}, {"every", b.every}, {"window", b.window}, {"matrix", b.matrix}};
}

Json cost_json(const Cost& c) {
  return {{"flops", flops_json(c.flops)},
          {"weight_elements_distinct", c.weight_elements_distinct},
          {"weight_elements_read", c.weight_elements_read},
          {"state_elements_read", by_retention_json(c.state_elements_read)},
          {"state_elements_written", by_retention_json(c.state_elements_written)}};
}

const char* kind_name(Retention::Kind kind) {
  return kind == Retention::Kind::Every ? "every" : kind == Retention::Kind::Window ? "window" : "matrix";
}

Json keep_json(const Retention& keep) {
  Json json = {{"kind", kind_name(keep.kind)}};
  if (keep.kind == Retention::Kind::Window) json["rows"] = keep.window;
  return json;
}

Json state_json(const Explanation& e) {
  Json json = {{"dtype", e.kv_storage.name}, {"bytes_per_token", e.kv_bytes_per_token}};
  json["groups"] = Json::array();
  for (const SlotGroup& group : e.slot_groups) {
    Json entry = keep_json(group.keep);
    entry["count"] = group.count;
    entry["widths"] = group.widths;
    json["groups"].push_back(entry);
  }
  json["contexts"] = Json::array();
  for (const Memory& m : e.memory) json["contexts"].push_back({{"tokens", m.tokens}, {"bytes", m.bytes}});
  json["slots"] = Json::array();
  const std::vector<std::string> origins = slot_origins(e.plan, e.analysis);
  for (size_t s = 0; s < origins.size(); s++) {
    const Slot& slot = e.analysis.slots[s];
    Json entry = keep_json(slot.keep);
    entry["value"] = slot.value;
    entry["width"] = slot.width;
    entry["made_by"] = origins[s];
    json["slots"].push_back(entry);
  }
  return json;
}

Json rows_json(const Explanation& e) {
  Json rows = Json::array();
  for (const RowGroup& group : e.row_groups) {
    Json demands = Json::array();
    if (group.every) demands.push_back("all");
    if (group.last) demands.push_back("logits");
    if (group.none) demands.push_back("none");
    rows.push_back({{"steps", group.what}, {"applications", group.applications}, {"rows", demands}});
  }
  return rows;
}

}  // namespace

nlohmann::ordered_json explanation_json(const Explanation& e, bool plan) {
  Json json = {{"model", e.name},
               {"architecture", e.config.architecture},
               {"summary", e.summary},
               {"config", config_to_json(e.config)},
               {"loops", e.loops},
               {"layer_applications", e.layer_applications},
               {"steps", e.plan.steps.size()},
               {"fingerprint", to_hex(e.plan.fingerprint())}};
  json["parameters"] = {{"total", e.parameters.total},
                        {"active", e.parameters.active},
                        {"embedding", e.parameters.embedding},
                        {"non_embedding", e.parameters.non_embedding()}};
  json["weights"] = {{"dtype", e.weight_storage.name}, {"bytes", e.weight_bytes}};
  json["context"] = e.context;
  json["flops_per_token"] = {{"training", e.training_flops_per_token},
                             {"prefill", e.prefill.flops.total() / static_cast<double>(e.context)},
                             {"decode", e.decode.flops.total()}};
  json["prefill"] = cost_json(e.prefill);
  json["decode"] = cost_json(e.decode);
  json["rows"] = rows_json(e);
  json["state"] = state_json(e);
  if (plan) json["plan"] = e.plan.text();
  return json;
}

}  // namespace onceover
