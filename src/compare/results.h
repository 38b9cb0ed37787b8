// The numbers of a comparison: means and spreads over seeds, tables, and CSV.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compare/outcome.h"
#include "compare/plan_runs.h"

namespace onceover {

// Of at least one value. sd is the sample's (n - 1), 0 for one value.
struct Spread {
  double mean = 0, sd = 0;
  size_t count = 0;
};
std::optional<Spread> spread_of(const std::vector<double>& values);

// A model under a budget at a learning rate: its runs, one for each seed.
struct Cell {
  size_t model = 0;
  Budget budget = Budget::Steps;
  double learning_rate = 0;
  std::vector<size_t> runs;  // of the plan, done
  size_t failed = 0, waiting = 0;
};

// In the order of the models, then of the learning rates.
std::vector<Cell> cells_of(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                           Budget budget);

// Of each model only the learning rate with the lowest mean validation loss; a rate at which a run failed
// counts only when every other has one too.
std::vector<Cell> best_cells(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                             Budget budget);

// A value of the last validated record of each run of the cell; nothing when none has it.
std::optional<Spread> final_spread(const Cell& cell, const std::vector<RunOutcome>& outcomes,
                                   const std::string& field);

// Names of what the records hold beside every record's fields and that end with `ending`; shorter ones first,
// so that 8 comes before 16.
std::vector<std::string> extra_fields(const std::vector<RunOutcome>& outcomes, const std::string& ending);

// Tokens a second of training, scored or not; checkpoints and validation left out. Nothing when unknown.
std::optional<double> training_speed(const PlannedRun& run, const std::vector<Record>& records);

// Bytes of keys and values of one sequence at the recipe's context, two bytes an element.
int64_t kv_bytes(const ComparedModel& model);

using TableRows = std::vector<std::vector<std::string>>;

// The final table of a budget; the first row is the header. "FLOPs to R's loss": the share of the FLOPs of
// the reference R after which the mean validation loss first lies at R's final one.
TableRows final_table(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes, Budget budget);

// A row for each run, whatever became of it; and a row for each record of each run.
std::string results_csv(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes);
std::string curves_csv(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes);

}  // namespace onceover
