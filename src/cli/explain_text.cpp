#include <fmt/format.h>

#include <algorithm>

#include "base/hex.h"
#include "base/text.h"
#include "cli/explain.h"

namespace onceover {
namespace {

std::string line(const char* label, const std::string& value) {
  return fmt::format("  {:<22}{}\n", label, value);
}

std::string count_text(int64_t n) { return fmt::format("{} ({})", format_count(static_cast<double>(n)), n); }

std::string sizes_text(const Explanation& e) {
  const Config& c = e.config;
  std::string text =
      fmt::format("{} layers, hidden {}, {} heads of {} ({} for keys and values)", c.num_hidden_layers,
                  c.hidden_size, c.num_attention_heads, c.head_dim, c.num_key_value_heads);
  if (c.num_experts == 0) return text + fmt::format(", feed-forward {}", c.intermediate_size);
  text += fmt::format(", {} experts of {}, {} active", c.num_experts, c.moe_intermediate_size,
                      c.num_experts_per_tok);
  if (c.shared_expert_intermediate_size > 0)
    text += fmt::format(", shared expert of {}", c.shared_expert_intermediate_size);
  return text;
}

std::string identity_text(const Explanation& e) {
  const Config& c = e.config;
  std::string out = e.name + "\n";
  out += line("architecture", fmt::format("{}: {}", c.architecture, e.summary));
  out += line("shape", sizes_text(e));
  out += line("vocabulary", fmt::format("{}{}", c.vocab_size, c.tie_word_embeddings ? ", tied" : ""));
  out += line("loops", std::to_string(e.loops));
  out += line("layer applications", std::to_string(e.layer_applications));
  out += line("plan",
              fmt::format("{} steps, fingerprint {}", e.plan.steps.size(), to_hex(e.plan.fingerprint())));
  out += "\nparameters\n";
  out += line("total", count_text(e.parameters.total));
  out += line("active", count_text(e.parameters.active));
  out += line("embedding", count_text(e.parameters.embedding));
  out += line("non-embedding", count_text(e.parameters.non_embedding()));
  out += line("weights", fmt::format("{} as {}", format_bytes(e.weight_bytes), e.weight_storage.name));
  return out;
}

std::string share_text(const Flops& f) {
  const std::vector<std::pair<const char*, double>> kinds = {
      {"linear", f.linear},   {"attention", f.attention()}, {"retention", f.retention},
      {"experts", f.experts}, {"logits", f.logits},         {"other", f.other}};
  std::string text;
  for (const auto& [name, flops] : kinds) {
    if (flops == 0) continue;
    text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", name, 100 * flops / f.total());
  }
  return text;
}

std::string work_text(const Explanation& e) {
  const double tokens = static_cast<double>(e.context);
  std::string out = fmt::format("\nwork for a token, context {}\n", e.context);
  out += line("training", format_flops(e.training_flops_per_token));
  out += line("prefill", fmt::format("{} ({})", format_flops(e.prefill.flops.total() / tokens),
                                     share_text(e.prefill.flops)));
  out += line("decode",
              fmt::format("{} ({})", format_flops(e.decode.flops.total()), share_text(e.decode.flops)));
  out += line("decode reads", fmt::format("{} weights (each once: {}), {} state elements",
                                          format_count(e.decode.weight_elements_read),
                                          format_count(e.decode.weight_elements_distinct),
                                          format_count(e.decode.state_elements_read.total())));
  return out;
}

std::string rows_of(const RowGroup& group, int64_t tokens) {
  if (group.every && group.last) return fmt::format("{} for keys and values, 1 for the rest", tokens);
  if (group.every) return std::to_string(tokens);
  return group.last ? "1" : "none";
}

std::string rows_text(const Explanation& e) {
  std::string out = fmt::format("\nrows evaluated, prefill of {} tokens\n", e.context);
  for (const RowGroup& group : e.row_groups) {
    std::string rows = rows_of(group, e.context);
    if (group.applications > 1) rows += fmt::format("  x {} applications", group.applications);
    out += fmt::format("  {:<26}{}\n", group.what, rows);
  }
  return out;
}

std::string group_text(const SlotGroup& group) {
  const bool pair = group.widths.size() == 2 && group.widths[0] == group.widths[1];
  const std::string width =
      pair ? fmt::format("2 x {}", group.widths[0]) : fmt::format("{}", fmt::join(group.widths, " + "));
  const char* many = group.count == 1 ? "" : "s";
  switch (group.keep.kind) {
    case Retention::Kind::Every:
      return fmt::format("{} cache{} of every row x {}", group.count, many, width);
    case Retention::Kind::Window:
      return fmt::format("{} ring{} of {} rows x {}", group.count, many, group.keep.window, width);
    case Retention::Kind::Matrix:
      break;
  }
  return fmt::format("{} {} of {} elements, f32", group.count, group.count == 1 ? "matrix" : "matrices",
                     width);
}

std::string state_text(const Explanation& e) {
  std::string out = fmt::format("\nstate of one sequence, {}\n", e.kv_storage.name);
  for (const SlotGroup& group : e.slot_groups) out += "  " + group_text(group) + "\n";
  const bool rings = std::any_of(e.slot_groups.begin(), e.slot_groups.end(), [](const SlotGroup& group) {
    return group.keep.kind == Retention::Kind::Window;
  });
  out += line("growth", fmt::format("{:.0f} bytes a token{}", e.kv_bytes_per_token,
                                    rings ? " once the rings are full" : ""));
  std::vector<std::vector<std::string>> rows = {{"  tokens", "memory", "bytes", "bytes a token"}};
  for (const Memory& m : e.memory) {
    rows.push_back({fmt::format("  {}", m.tokens), format_bytes(m.bytes), fmt::format("{:.0f}", m.bytes),
                    fmt::format("{:.1f}", m.bytes / static_cast<double>(m.tokens))});
  }
  return out + format_table(rows);
}

std::string slots_text(const Explanation& e) {
  const std::vector<std::string> origins = slot_origins(e.plan, e.analysis);
  std::string out = "\nslots\n";
  for (size_t s = 0; s < e.analysis.slots.size(); s++) {
    const Slot& slot = e.analysis.slots[s];
    out += fmt::format("  {:<5} %{:<6} {:<10} x {:<8} {}\n", s, slot.value, retention_name(slot.keep),
                       slot.width, origins[s]);
  }
  return out;
}

}  // namespace

std::string explanation_text(const Explanation& e, bool slots, bool plan) {
  std::string out = identity_text(e) + work_text(e) + rows_text(e) + state_text(e);
  if (slots) out += slots_text(e);
  if (plan) out += "\nplan\n" + e.plan.text();
  return out;
}

}  // namespace onceover
