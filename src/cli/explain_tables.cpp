#include "cli/explain_tables.h"

#include <algorithm>
#include <cmath>

#include "analysis/complexity.h"
#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "base/text.h"

namespace onceover {
namespace {

using Row = std::vector<nlohmann::ordered_json>;

// Whole numbers as integers, so that 320 MiB reads 320.
nlohmann::ordered_json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<int64_t>(value);
  return value;
}

Row kv_row(const std::string& label, const Config& config, const ExplainOptions& options) {
  constexpr double mib = 1 << 20;
  const Plan plan = build(config);
  const Analysis analysis = analyse(plan);
  const Storage& storage = find_storage(options.kv_dtype, "--kv-dtype");
  Row row = {label};
  for (const std::string& context : options.contexts) {
    row.push_back(number(state_bytes(analysis, parse_tokens(context, "--contexts"), storage) / mib));
  }
  return row;
}

Config shape_1_3b(const std::string& architecture) { return *find_preset(architecture + "-1.3b"); }

std::vector<Table> kv_tables(const ExplainOptions& options) {
  std::vector<std::string> columns = {"model"};
  columns.insert(columns.end(), options.contexts.begin(), options.contexts.end());
  Table paper{"KV cache in MiB, one sequence, 1.3b shapes (arXiv 2604.01220, Table 10)", columns, {}};
  for (const char* name : {"transformer", "rins", "yoco", "yoco-u"}) {
    paper.rows.push_back(kv_row(name, shape_1_3b(name), options));
  }
  Table further{"The same for models outside that table", columns, {}};
  Config retention = shape_1_3b("yoco");
  retention.self_mixer = Mixer::Retention;
  further.rows.push_back(kv_row("universal", shape_1_3b("universal"), options));
  further.rows.push_back(kv_row("yoco, retention", retention, options));
  for (const char* name : {"yoco-upper-loop", "yoco-upper-loop-unshared", "yoco-plus"}) {
    further.rows.push_back(kv_row(name, shape_1_3b(name), options));
  }
  return {paper, further};
}

// Only the shapes of Table 7 have a learning rate in the paper.
nlohmann::ordered_json paper_learning_rate(const std::string& size) {
  if (size == "300m" || size == "500m") return 6e-4;
  if (size == "870m" || size == "1.3b" || size == "3.4b" || size == "6.4b") return 3e-4;
  return "-";
}

Row size_row(const std::string& architecture, const std::string& size) {
  const Config c = *find_preset(architecture + "-" + size);
  const Plan plan = build(c);
  const ParameterCount p = count_parameters(plan);
  return {architecture,
          size,
          c.hidden_size,
          c.num_hidden_layers,
          c.num_attention_heads,
          c.num_key_value_heads,
          c.num_experts > 0 ? c.moe_intermediate_size : c.intermediate_size,
          paper_learning_rate(size),
          p.total,
          p.active,
          p.non_embedding(),
          layer_applications(plan)};
}

std::vector<Table> size_tables(const ExplainOptions& options) {
  std::vector<std::string> names = options.architectures;
  if (names.empty()) {
    for (const Architecture& architecture : all_architectures()) names.push_back(architecture.name);
  }
  Table table{"Sizes (arXiv 2604.01220, Table 7, and ours)",
              {"architecture", "size", "hidden", "layers", "heads", "kv heads", "ffn", "learning rate",
               "parameters", "active", "non-embedding", "layer applications"},
              {}};
  for (const std::string& name : names) {
    for (const std::string& size : preset_sizes()) table.rows.push_back(size_row(name, size));
  }
  return {table};
}

// The family of plans that a complexity fit asks for: `tiny` of an architecture, resized.
PlanFamily family_of(const Architecture& architecture) {
  return [&architecture](const PlanSize& size) {
    constexpr int head_dim = 64, query_heads_per_kv_head = 2;
    Config c = *find_preset(architecture.name + "-tiny");
    c.num_hidden_layers = size.layers;
    c.hidden_size = size.width;
    c.head_dim = head_dim;
    c.num_attention_heads = size.width / head_dim;
    c.num_key_value_heads = c.num_attention_heads / query_heads_per_kv_head;
    c.intermediate_size = 2 * size.width;
    if (c.sliding_window) c.sliding_window = size.window;
    if (c.num_loops > 1) c.num_loops = size.loops;
    check_config(c, architecture.name);
    return build(c);
  };
}

// The highest power of N of each kind of attention.
std::vector<Growth> leading(const std::vector<Growth>& growths) {
  std::vector<Growth> first;
  for (const Growth& growth : growths) {
    if (first.empty() || first.back().part != growth.part) first.push_back(growth);
  }
  return first;
}

// "N^1 L^1.00 D^1.00"; exponents that round to zero are left out.
std::string growth_text(const std::vector<Growth>& growths) {
  std::string text;
  for (const Growth& g : growths) {
    if (!text.empty()) text += " + ";
    text += fmt::format("N^{}", g.tokens);
    const std::pair<const char*, double> exponents[] = {
        {"L", g.layers}, {"T", g.loops}, {"W", g.window}, {"D", g.width}};
    for (const auto& [name, value] : exponents) {
      if (std::abs(value) >= 0.005) text += fmt::format(" {}^{:.2f}", name, value);
    }
  }
  return text;
}

double worst_residual(const std::vector<Growth>& growths) {
  double worst = 0;
  for (const Growth& growth : growths) worst = std::max(worst, growth.residual);
  return worst;
}

struct PaperRow {
  const char *architecture, *memory, *prefill, *decode;
};
constexpr PaperRow paper_rows[] = {
    {"transformer", "O(L N D)", "O(L N^2 D)", "O(L N D)"},
    {"yoco", "O((N + W L) D)", "O(L/2 N D)", "O(L/2 (N + W) D)"},
    {"universal", "O(L T N D)", "O(L T N^2 D)", "O(L T N D)"},
    {"yoco-u", "O((N + W T L) D)", "O(L/2 T N D)", "O(L/2 (N + W T) D)"},
};

std::vector<Table> complexity_tables() {
  Table table{
      "Growth with tokens N, layers L, loops T, window W and width D, fitted to counted plans "
      "(arXiv 2604.01220, Table 1).\nLeading power of N for each kind of attention; residual in powers of "
      "two",
      {"model", "measure", "fitted", "residual", "paper"},
      {}};
  for (const PaperRow& paper : paper_rows) {
    const Complexity c = fit_complexity(family_of(find_architecture(paper.architecture, "complexity")));
    const auto add = [&](const char* measure, const std::vector<Growth>& growths, const char* formula) {
      const std::vector<Growth> terms = leading(growths);
      table.rows.push_back({paper.architecture, measure, growth_text(terms),
                            fmt::format("{:.1e}", worst_residual(terms)), formula});
    };
    add("KV elements", c.state_elements, paper.memory);
    add("prefill FLOPs", c.prefill_flops, paper.prefill);
    add("decode FLOPs", c.decode_flops, paper.decode);
    add("decode reads", c.decode_reads, paper.decode);
  }
  return {table};
}

}  // namespace

void check_table_options(const ExplainOptions& options) {
  const auto check = [](const char* option, const std::string& value, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    throw Error("{} must be one of {}, found '{}'{}", option, fmt::join(known, ", "), value,
                did_you_mean(value, known));
  };
  if (!options.table.empty()) check("--table", options.table, {"kv", "complexity", "sizes"});
  check("--format", options.format, {"text", "md", "csv", "json"});
  for (const std::string& name : options.architectures) find_architecture(name, "--architecture");
}

std::vector<Table> explain_tables(const ExplainOptions& options) {
  if (options.table == "kv") return kv_tables(options);
  if (options.table == "sizes") return size_tables(options);
  return complexity_tables();
}

}  // namespace onceover
