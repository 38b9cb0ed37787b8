// `onceover report`: one page with the curves of one or more training runs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/mapped_file.h"
#include "cli/verbs.h"
#include "report/jsonl.h"
#include "report/training_report.h"

namespace onceover {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output = "report.html", title = "Training";
};

std::string run_name(const std::filesystem::path& run) {
  return std::filesystem::absolute(run).lexically_normal().filename().string();
}

void write_report(const ReportOptions& options) {
  std::vector<RunCurves> curves;
  std::string settings;
  for (const std::filesystem::path run : options.runs) {
    curves.push_back({run_name(run), read_records(run / "train.jsonl")});
    if (curves.back().records.empty()) throw Error("{}: holds no record yet", (run / "train.jsonl").string());
    constexpr size_t max_settings_bytes = 1 << 20;
    settings += fmt::format("# {}\n{}\n", run.string(),
                            read_text_file(run / "config.resolved.toml", max_settings_bytes));
  }
  HtmlReport page = training_report(options.title, fmt::format("{}", fmt::join(options.runs, ", ")), curves);
  page.made_by({{"program", "onceover " ONCEOVER_VERSION}}, settings);
  page.save(options.output);
  fmt::print("{}\n", options.output);
}

}  // namespace

Action report_verb(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("runs", options->runs, "run folders, as train leaves them")->required()->type_name("RUN");
  app.add_option("--output", options->output, "the page to write")->type_name("FILE")->capture_default_str();
  app.add_option("--title", options->title, "its heading")->type_name("TEXT")->capture_default_str();
  return [options] { write_report(*options); };
}

}  // namespace onceover
