#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compare/results.h"
#include "report/csv.h"

namespace onceover {
namespace {

// Columns in the order of their first mention.
class CsvRows {
 public:
  void begin() { rows_.emplace_back(); }
  void set(const std::string& column, std::string value) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    const auto at = static_cast<size_t>(found - columns_.begin());
    if (found == columns_.end()) columns_.push_back(column);
    if (rows_.back().size() <= at) rows_.back().resize(at + 1);
    rows_.back()[at] = std::move(value);
  }
  void set(const std::string& column, double value) { set(column, csv_number(value)); }
  void set(const std::string& column, int64_t value) { set(column, fmt::format("{}", value)); }

  std::string text() const {
    std::string csv = csv_line(columns_);
    for (auto row : rows_) {
      row.resize(columns_.size());
      csv += csv_line(row);
    }
    return csv;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string budgets_text(const PlannedRun& run) {
  std::vector<std::string> names;
  for (const Budget budget : run.budgets) names.emplace_back(budget_name(budget));
  return fmt::format("{}", fmt::join(names, " "));
}

void set_run(CsvRows& csv, const ComparisonPlan& plan, const PlannedRun& run) {
  const ComparedModel& model = plan.models[run.model];
  csv.set("run", run.name);
  csv.set("model", model.name);
  csv.set("budgets", budgets_text(run));
  csv.set("loops", int64_t{model.config.num_loops});
  csv.set("learning_rate", run.settings.optimiser.learning_rate);
  csv.set("seed", run.settings.run.seed);
}

void set_plan(CsvRows& csv, const ComparisonPlan& plan, const PlannedRun& run) {
  const ComparedModel& model = plan.models[run.model];
  csv.set("parameters", model.parameters.total);
  csv.set("non_embedding_parameters", model.parameters.non_embedding());
  csv.set("context", plan.recipe.context);
  csv.set("kv_bytes", kv_bytes(model));
  csv.set("planned_steps", run.settings.schedule.steps);
  csv.set("planned_flops", run.flops);
}

void set_outcome(CsvRows& csv, const PlannedRun& run, const RunOutcome& outcome) {
  csv.set("state", std::string(progress_name(outcome.progress)));
  csv.set("reason", outcome.reason);
  for (const char* name : {"steps", "tokens", "flops", "wall_seconds", "tokens_per_second", "training_loss",
                           "validation_loss", "bits_per_byte"})
    csv.set(name, std::string());
  if (outcome.records.empty()) return;
  const Record& last = outcome.records.back();
  csv.set("steps", last.step);
  csv.set("tokens", last.tokens);
  csv.set("flops", last.flops);
  csv.set("wall_seconds", last.wall_seconds);
  csv.set("tokens_per_second", training_speed(run, outcome.records).value_or(std::nan("")));
  csv.set("training_loss", last.loss);
  const Record* validated = outcome.validated();
  if (!validated) return;
  csv.set("validation_loss", validated->validation->loss);
  csv.set("bits_per_byte", validated->validation->bits_per_byte);
  for (const auto& [name, value] : validated->extra) csv.set(name, value);
}

}  // namespace

std::string results_csv(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  CsvRows csv;
  for (size_t run = 0; run < plan.runs.size(); run++) {
    csv.begin();
    set_run(csv, plan, plan.runs[run]);
    set_plan(csv, plan, plan.runs[run]);
    set_outcome(csv, plan.runs[run], outcomes[run]);
  }
  return csv.text();
}

std::string curves_csv(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  CsvRows csv;
  for (size_t run = 0; run < plan.runs.size(); run++) {
    for (const Record& record : outcomes[run].records) {
      csv.begin();
      set_run(csv, plan, plan.runs[run]);
      csv.set("scheduled_rate", record.learning_rate);
      for (const auto& [name, value] : fields(record)) {
        if (name != "learning_rate") csv.set(name, value);
      }
    }
  }
  return csv.text();
}

}  // namespace onceover
