#include "cli/explain.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cli/explain_tables.h"
#include "cli/json_text.h"
#include "cli/usage.h"
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
  fmt::print("{}", json_text(json));
}

void explain(const ExplainOptions& options) {
  if (options.list) return options.json ? print_list_json() : print_list();
  if (!options.table.empty()) {
    fmt::print("{}", format_tables(explain_tables(options), options.json ? "json" : options.format));
    return;
  }
  const Explanation e = explain_model(options);
  if (options.json)
    fmt::print("{}", json_text(explanation_json(e, options.plan)));
  else
    fmt::print("{}", explanation_text(e, options.slots, options.plan));
}

// What may stand beside MODEL, --list or a table.
std::vector<std::string> companions(const ExplainOptions& o) {
  if (o.list) return {"--list", "--json"};
  if (o.table == "kv") return {"--table", "--json", "--format", "--contexts", "--kv-dtype"};
  if (o.table == "sizes") return {"--table", "--json", "--format", "--architecture"};
  if (!o.table.empty()) return {"--table", "--json", "--format"};
  return {"model",   "--json",     "--loops", "--context", "--contexts",
          "--dtype", "--kv-dtype", "--slots", "--plan"};
}

void check_options(const CLI::App& app, const ExplainOptions& o) {
  check_table_options(o);
  find_storage(o.dtype, "--dtype");
  find_storage(o.kv_dtype, "--kv-dtype");
  if (o.context) parse_tokens(*o.context, "--context");
  for (const std::string& context : o.contexts) parse_tokens(context, "--contexts");
  const bool model = app.count("model") > 0, table = app.count("--table") > 0;
  if (!model && !table && !o.list) throw Error("explain needs a MODEL, --list or --table");
  const std::vector<std::string> allowed = companions(o);
  for (const CLI::Option* option : app.get_options()) {
    const bool fits = std::find(allowed.begin(), allowed.end(), option->get_name()) != allowed.end();
    if (option->count() == 0 || fits) continue;
    throw Error("{} means nothing with {}", option->get_positional() ? "MODEL" : option->get_name(),
                o.list  ? "--list"
                : table ? "--table " + o.table
                        : "MODEL");
  }
  if (o.json && app.count("--format") > 0) throw Error("give --json or --format, not both");
}

void declare_model_options(CLI::App& app, ExplainOptions& o) {
  app.add_option("model", o.model, "a preset (yoco-u-1.3b), a config.json, or a checkpoint directory")
      ->type_name("MODEL");
  app.add_option("--loops", o.loops, "how often the repeated layers run, instead of the config's number")
      ->check(whole_number(1, 1024))
      ->type_name("T");
  app.add_option("--context", o.context, "tokens of the work figures; the config's longest when left out")
      ->type_name("TOKENS");
  app.add_option("--contexts", o.contexts, "tokens of the memory figures, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
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
      ->allow_extra_args(false)
      ->type_name("NAME");
  check_usage(app, [&app, options] { check_options(app, *options); });
  return [options] { explain(*options); };
}

}  // namespace onceover
