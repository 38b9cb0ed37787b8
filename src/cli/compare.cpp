// `onceover compare`: trains what a recipe lists and writes the comparison.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "cli/executor.h"
#include "cli/model_source.h"
#include "cli/table.h"
#include "cli/training_job.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "compare/comparison_report.h"
#include "compare/runner.h"
#include "report/progress.h"
#include "train/stop_signal.h"

namespace onceover {
namespace {

struct CompareOptions {
  std::string recipe, folder;
  ExecutorChoice executor;
  bool dry_run = false;
};

std::string machine_text(const ExecutorChoice& choice) { return choice.name + " on " + choice.device; }

Recipe read_recipe(const CompareOptions& options, const std::vector<std::string>& overrides) {
  constexpr size_t most_bytes = size_t{1} << 20;
  Recipe recipe = recipe_from_toml(read_text_file(options.recipe, most_bytes), options.recipe);
  for (const std::string& words : overrides) {
    if (!words.starts_with("--")) throw UsageMistake("unexpected '{}': expected --section.key=value", words);
    override_setting(recipe.base, std::string_view(words).substr(2));
  }
  return recipe;
}

ComparisonTools tools_for(const ExecutorChoice& executor,
                          const std::function<void(const std::string&)>& warn) {
  ComparisonTools tools;
  tools.executor = machine_text(executor);
  tools.vocab_size = [warn](const TrainSettings& settings) {
    return open_sources(settings, warn).vocab_size;
  };
  tools.find_model = find_model;
  tools.make_job = [](const Config& config, const TrainSettings& settings, const std::string& where) {
    return prepare_model(config, settings, open_sources(settings, {}), where).job;
  };
  tools.make_executor = [executor](const TrainedModel& model, const TrainSettings& settings) {
    return make_training_executor(executor, model, settings);
  };
  return tools;
}

// One bar over all runs, in FLOPs: what is left of a deep model counts for what it will take.
class ComparisonProgress {
 public:
  explicit ComparisonProgress(const ComparisonPlan& plan) : plan_(plan) {
    for (const PlannedRun& run : plan.runs) total_ += run.flops;
  }
  void skip(size_t run) { done_ += plan_.runs[run].flops; }
  void start(size_t run, int64_t step, int64_t steps) {
    ended_here_ = 0;
    per_step_ = plan_.runs[run].flops / static_cast<double>(steps);
    if (!bar_) {
      const Progress::Work work{"compare", "GFLOPs", units(total_),
                                units(done_ + per_step_ * static_cast<double>(step))};
      bar_.emplace(work, Terminal::of(fileno(stderr)));
    }
    bar_->print(fmt::format("run {} of {}: {}, {} steps{}", run + 1, plan_.runs.size(), plan_.runs[run].name,
                            steps, step > 0 ? fmt::format(", going on after {}", step) : ""));
  }
  void step(size_t run, int64_t step, double loss) {
    ended_here_ = per_step_ * static_cast<double>(step);
    bar_->update(units(done_ + ended_here_),
                 fmt::format("run {}/{} loss {:.4f}", run + 1, plan_.runs.size(), loss));
  }
  void end(size_t run, const RunOutcome& outcome) {
    done_ += plan_.runs[run].flops;
    line(outcome_text(outcome));
  }
  void line(std::string_view text) {
    if (bar_) return bar_->print(text);
    fmt::print(stderr, "{}\n", text);
  }
  void finish() {
    if (bar_) bar_->finish();
  }

 private:
  static int64_t units(double flops) { return std::max<int64_t>(1, static_cast<int64_t>(flops / 1e9)); }
  static std::string outcome_text(const RunOutcome& outcome) {
    if (outcome.progress == RunProgress::Failed) return "  failed: " + outcome.reason;
    const Record* last = outcome.validated();
    return last ? fmt::format("  validation loss {:.4f}", last->validation->loss) : "  done";
  }

  const ComparisonPlan& plan_;
  double total_ = 0, done_ = 0, per_step_ = 0, ended_here_ = 0;
  std::optional<Progress> bar_;
};

void print_plan(const CompareOptions& options, const ComparisonPlan& plan) {
  Table table{"Planned runs", {"run", "parameters", "steps", "tokens", "FLOPs"}, {}};
  table.columns.push_back(fmt::format("KV cache at {}", plan.recipe.context));
  table.columns.emplace_back("memory");
  double flops = 0;
  for (const PlannedRun& run : plan.runs) {
    const ComparedModel& model = plan.models[run.model];
    const int64_t steps = run.settings.schedule.steps;
    const int64_t memory = planned_training_bytes(options.executor, model.trained, run.settings);
    table.rows.push_back({run.name, format_count(static_cast<double>(model.parameters.non_embedding())),
                          fmt::format("{}", steps),
                          format_count(static_cast<double>(steps * run.settings.batch.tokens)),
                          format_flops(run.flops), format_bytes(static_cast<double>(kv_bytes(model))),
                          format_bytes(static_cast<double>(memory))});
    flops += run.flops;
  }
  fmt::print("{}\n{} runs, {}; the FLOPs of {} are the reference\n", format_tables({table}, "text"),
             plan.runs.size(), format_flops(flops), plan.models[plan.reference].name);
}

std::vector<Table> final_tables(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  std::vector<Table> tables;
  for (const Budget budget : plan.recipe.budgets) {
    const TableRows rows = final_table(plan, outcomes, budget);
    Table table{budget_heading(budget), rows[0], {}};
    for (size_t r = 1; r < rows.size(); r++) table.rows.emplace_back(rows[r].begin(), rows[r].end());
    tables.push_back(std::move(table));
  }
  return tables;
}

void write_results(const CompareOptions& options, const ComparisonPlan& plan,
                   const std::vector<RunOutcome>& outcomes) {
  const std::filesystem::path folder(options.folder);
  write_text_file(folder / "results.csv", results_csv(plan, outcomes));
  write_text_file(folder / "curves.csv", curves_csv(plan, outcomes));
  HtmlReport page = comparison_report(plan, outcomes);
  constexpr size_t most_bytes = size_t{1} << 20;
  page.made_by({{"program", "onceover " ONCEOVER_VERSION},
                {"command", fmt::format("onceover compare {}", options.recipe)},
                {"executor", machine_text(options.executor)}},
               read_text_file(options.recipe, most_bytes));
  page.save(folder / "report.html");
}

void require_all_done(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  std::vector<std::string> failed;
  for (size_t run = 0; run < plan.runs.size(); run++) {
    if (outcomes[run].progress == RunProgress::Failed) failed.push_back(plan.runs[run].name);
  }
  if (failed.empty()) return;
  throw Error("{} of {} runs failed: {}; results.csv says why", failed.size(), plan.runs.size(),
              fmt::join(failed, ", "));
}

void train_all(const CompareOptions& options, const ComparisonPlan& plan, const ComparisonTools& tools) {
  ComparisonRunner runner(plan, tools, options.folder);
  ComparisonProgress progress(plan);
  for (size_t run = 0; run < plan.runs.size(); run++) {
    if (runner.outcomes()[run].progress == RunProgress::Done) progress.skip(run);
  }
  const StopSignal stop;
  ComparisonHooks hooks;
  hooks.on_start = [&](size_t run, int64_t step, int64_t steps) { progress.start(run, step, steps); };
  hooks.on_step = [&](size_t run, int64_t step, double loss) { progress.step(run, step, loss); };
  hooks.on_end = [&](size_t run) {
    progress.end(run, runner.outcomes()[run]);
    write_results(options, plan, runner.outcomes());
  };
  hooks.notice = [&](std::string_view text) { progress.line(text); };
  hooks.stop = [&] { return stop.asked(); };
  const bool all = runner.train(hooks);
  progress.finish();
  write_results(options, plan, runner.outcomes());
  fmt::print("{}\n{}\n", format_tables(final_tables(plan, runner.outcomes()), "md"),
             (std::filesystem::path(options.folder) / "report.html").string());
  if (!all) fmt::print("stopped; the same command goes on from here\n");
  require_all_done(plan, runner.outcomes());
}

void compare(const CompareOptions& options, const std::vector<std::string>& overrides) {
  signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of writing, not a reason to die
  const auto warn = [](const std::string& text) { fmt::print(stderr, "warning: {}\n", text); };
  const ComparisonTools tools = tools_for(options.executor, warn);
  const ComparisonPlan plan = plan_comparison(read_recipe(options, overrides), tools);
  if (options.dry_run) return print_plan(options, plan);
  if (options.folder.empty()) throw UsageMistake("compare needs --out: the folder for runs and results");
  std::filesystem::create_directories(options.folder);
  train_all(options, plan, tools);
}

}  // namespace

Action compare_verb(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("recipe", options->recipe, "a TOML file; docs/comparing.md lists its keys")
      ->required()
      ->type_name("FILE");
  app.add_option("--out", options->folder, "for the runs, report.html, results.csv and curves.csv")
      ->type_name("FOLDER");
  add_executor_options(app, options->executor);
  app.add_flag("--dry-run", options->dry_run, "list the planned runs: steps, tokens, FLOPs, memory");
  app.footer("Any training setting of [base] may be given as --section.key=value; it wins over the recipe.");
  app.allow_extras();
  return [options, &app] { compare(*options, app.remaining()); };
}

}  // namespace onceover
