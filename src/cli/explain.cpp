#include "cli/explain.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cli/explain_tables.h"
#include "cli/verbs.h"

namespace onceover {
namespace {

void print_list() {
  for (const Architecture& architecture : all_architectures()) {
    fmt::print("{:<26}{}\n", architecture.name, architecture.summary);
  }
  fmt::print("\npresets: ARCHITECTURE-SIZE, with SIZE one of {}\n", fmt::join(preset_sizes(), ", "));
}

void print_list_json() {
  nlohmann::ordered_json json;
  for (const Architecture& architecture : all_architectures()) {
    json["architectures"].push_back({{"name", architecture.name}, {"summary", architecture.summary}});
  }
  json["sizes"] = preset_sizes();
  json["presets"] = preset_names();
  fmt::print("{}\n", json.dump(2));
}

void explain(const ExplainOptions& options) {
  if (options.list) return options.json ? print_list_json() : print_list();
  if (!options.table.empty()) {
    fmt::print("{}", format_tables(explain_tables(options), options.json ? "json" : options.format));
    return;
  }
  if (options.model.empty()) throw Error("explain needs a MODEL, --list or --table");
  const Explanation e = explain_model(options);
  if (options.json)
    fmt::print("{}\n", explanation_json(e, options.plan).dump(2));
  else
    fmt::print("{}", explanation_text(e, options.slots, options.plan));
}

void declare_model_options(CLI::App& app, ExplainOptions& o) {
  app.add_option("model", o.model, "a preset (yoco-u-1.3b), a config.json, or a checkpoint directory")
      ->type_name("MODEL");
  app.add_option("--loops", o.loops, "how often the repeated layers run, instead of the config's number")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("T");
  app.add_option("--context", o.context, "tokens of the work figures; the config's longest when left out")
      ->type_name("TOKENS");
  app.add_option("--contexts", o.contexts, "tokens of the memory figures, separated by commas")
      ->delimiter(',')
      ->type_name("TOKENS")
      ->default_str(fmt::format("{}", fmt::join(o.contexts, ",")));
  app.add_option("--dtype", o.dtype,
                 fmt::format("how weights are stored: {}", fmt::join(storage_names(), ", ")))
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option("--kv-dtype", o.kv_dtype, "how keys and values are stored; retention matrices stay f32")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_flag("--slots", o.slots, "list every value that outlives a call");
  app.add_flag("--plan", o.plan, "list the steps and weights");
}

}  // namespace

Action explain_verb(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  declare_model_options(app, *options);
  app.add_flag("--json", options->json, "print for programs");
  app.add_flag("--list", options->list, "list architectures and preset sizes");
  app.add_option("--table", options->table,
                 "print a table of arXiv 2604.01220 from plans: kv, complexity, sizes")
      ->type_name("NAME");
  app.add_option("--format", options->format, "of a table: text, md, csv, json")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--architecture", options->architectures,
                 "architectures of --table sizes; all when left out")
      ->delimiter(',')
      ->type_name("NAME");
  return [options] { explain(*options); };
}

}  // namespace onceover
