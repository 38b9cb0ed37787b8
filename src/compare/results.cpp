#include "compare/results.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "compare/mean_curve.h"

namespace onceover {
namespace {

std::optional<double> field_of(const Record& record, const std::string& name) {
  for (const auto& [field, value] : fields(record)) {
    if (field == name && std::isfinite(value)) return value;
  }
  return std::nullopt;
}

Cell cell_of(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes, size_t model, Budget budget,
             double learning_rate) {
  Cell cell{model, budget, learning_rate, {}, 0, 0};
  for (size_t run = 0; run < plan.runs.size(); run++) {
    const PlannedRun& planned = plan.runs[run];
    if (planned.model != model || !planned.answers(budget) ||
        planned.settings.optimiser.learning_rate != learning_rate)
      continue;
    const RunProgress progress = outcomes[run].progress;
    if (progress == RunProgress::Done) cell.runs.push_back(run);
    cell.failed += progress == RunProgress::Failed;
    cell.waiting += progress == RunProgress::Waiting || progress == RunProgress::Training;
  }
  return cell;
}

// Lower is better.
double rank(const Cell& cell, const std::vector<RunOutcome>& outcomes) {
  const auto loss = final_spread(cell, outcomes, "validation_loss");
  constexpr double worse_than_any_loss = 1e6;
  if (!loss) return std::numeric_limits<double>::infinity();
  return loss->mean + worse_than_any_loss * static_cast<double>(cell.failed);
}

std::string spread_text(const std::optional<Spread>& spread, int decimals) {
  if (!spread) return "–";
  const std::string mean = fmt::format("{:.{}f}", spread->mean, decimals);
  return spread->count < 2 ? mean : fmt::format("{} ± {:.{}f}", mean, spread->sd, decimals);
}

std::string missing_text(const Cell& cell) {
  std::string text;
  if (cell.failed > 0) text += fmt::format(" ({} failed)", cell.failed);
  if (cell.waiting > 0) text += fmt::format(" ({} to come)", cell.waiting);
  return text;
}

std::optional<Spread> cell_speed(const ComparisonPlan& plan, const Cell& cell,
                                 const std::vector<RunOutcome>& outcomes) {
  std::vector<double> speeds;
  for (const size_t run : cell.runs) {
    if (const auto speed = training_speed(plan.runs[run], outcomes[run].records)) speeds.push_back(*speed);
  }
  return spread_of(speeds);
}

// "swaps_8_accuracy" as words.
std::string field_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f}%", 100 * *share) : "–";
}

const PlannedRun& any_run(const ComparisonPlan& plan, const Cell& cell) {
  return *std::find_if(plan.runs.begin(), plan.runs.end(), [&](const PlannedRun& run) {
    return run.model == cell.model && run.answers(cell.budget);
  });
}

std::vector<std::string> table_header(const ComparisonPlan& plan,
                                      const std::vector<std::string>& accuracies) {
  std::vector<std::string> header = {"model", "parameters", "loops"};
  if (plan.recipe.learning_rates.size() > 1) header.emplace_back("learning rate");
  for (const char* name : {"steps", "tokens", "FLOPs", "validation loss"}) header.emplace_back(name);
  header.push_back(fmt::format("FLOPs to {}'s loss", plan.models[plan.reference].name));
  header.emplace_back("bits per byte");
  for (const auto& name : accuracies) header.push_back(field_words(name));
  header.push_back(fmt::format("KV cache at {}", plan.recipe.context));
  header.emplace_back("tokens/s");
  return header;
}

std::vector<std::string> table_row(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                                   const Cell& cell, const std::vector<MeanPoint>& reference,
                                   const std::vector<std::string>& accuracies) {
  const ComparedModel& model = plan.models[cell.model];
  const PlannedRun& run = any_run(plan, cell);
  const int64_t steps = run.settings.schedule.steps;
  std::vector<std::string> row = {model.name,
                                  format_count(static_cast<double>(model.parameters.non_embedding())),
                                  fmt::format("{}", model.config.num_loops)};
  if (plan.recipe.learning_rates.size() > 1) row.push_back(fmt::format("{}", cell.learning_rate));
  row.push_back(fmt::format("{}", steps));
  row.push_back(format_count(static_cast<double>(steps * run.settings.batch.tokens)));
  row.push_back(format_flops(run.flops));
  row.push_back(spread_text(final_spread(cell, outcomes, "validation_loss"), 4) + missing_text(cell));
  row.push_back(share_text(flops_share_to_reach(reference, mean_curve(cell, outcomes))));
  row.push_back(spread_text(final_spread(cell, outcomes, "bits_per_byte"), 4));
  for (const auto& name : accuracies) row.push_back(spread_text(final_spread(cell, outcomes, name), 3));
  row.push_back(format_bytes(static_cast<double>(kv_bytes(model))));
  const auto speed = cell_speed(plan, cell, outcomes);
  row.push_back(speed ? format_count(speed->mean) : "–");
  return row;
}

}  // namespace

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return Spread{mean, values.size() < 2 ? 0 : std::sqrt(squares / (count - 1)), values.size()};
}

std::vector<Cell> cells_of(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                           Budget budget) {
  std::vector<Cell> cells;
  for (size_t model = 0; model < plan.models.size(); model++) {
    for (const double rate : plan.recipe.learning_rates)
      cells.push_back(cell_of(plan, outcomes, model, budget, rate));
  }
  return cells;
}

std::vector<Cell> best_cells(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                             Budget budget) {
  std::vector<Cell> best;
  for (const Cell& cell : cells_of(plan, outcomes, budget)) {
    if (best.empty() || best.back().model != cell.model) {
      best.push_back(cell);
    } else if (rank(cell, outcomes) < rank(best.back(), outcomes)) {
      best.back() = cell;
    }
  }
  return best;
}

std::optional<Spread> final_spread(const Cell& cell, const std::vector<RunOutcome>& outcomes,
                                   const std::string& field) {
  std::vector<double> values;
  for (const size_t run : cell.runs) {
    const Record* last = outcomes[run].validated();
    const auto value = last ? field_of(*last, field) : std::nullopt;
    if (value) values.push_back(*value);
  }
  return spread_of(values);
}

std::vector<std::string> extra_fields(const std::vector<RunOutcome>& outcomes, const std::string& ending) {
  std::set<std::string> names;
  for (const RunOutcome& outcome : outcomes) {
    for (const Record& record : outcome.records) {
      for (const auto& extra : record.extra) {
        if (extra.first.ends_with(ending)) names.insert(extra.first);
      }
    }
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::stable_sort(sorted, {}, &std::string::size);
  return sorted;
}

std::optional<double> training_speed(const PlannedRun& run, const std::vector<Record>& records) {
  double seconds = 0;
  int64_t steps = 0;
  Record before;
  for (const Record& record : records) {
    const auto scored = static_cast<double>(record.tokens - before.tokens);
    if (record.tokens_per_second > 0 && std::isfinite(record.tokens_per_second)) {
      seconds += scored / record.tokens_per_second;
      steps += record.step - before.step;
    }
    before = record;
  }
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(steps * run.settings.batch.tokens) / seconds;
}

int64_t kv_bytes(const ComparedModel& model) {
  constexpr int64_t bytes_per_element = 2;
  return model.kv_elements * bytes_per_element;
}

TableRows final_table(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes, Budget budget) {
  const auto accuracies = extra_fields(outcomes, "_accuracy");
  const auto cells = best_cells(plan, outcomes, budget);
  TableRows rows = {table_header(plan, accuracies)};
  const auto reference = mean_curve(cells[plan.reference], outcomes);
  for (const Cell& cell : cells) rows.push_back(table_row(plan, outcomes, cell, reference, accuracies));
  return rows;
}

}  // namespace onceover
