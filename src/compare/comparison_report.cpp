#include "compare/comparison_report.h"

#include <algorithm>

#include "base/error.h"
#include "compare/mean_curve.h"

namespace onceover {
namespace {

Series loss_curve(const Cell& cell, const std::vector<RunOutcome>& outcomes, double MeanPoint::*x) {
  Series series;
  for (const MeanPoint& point : mean_curve(cell, outcomes)) {
    series.x.push_back(point.*x);
    series.y.push_back(point.loss.mean);
    if (cell.runs.size() > 1) series.spread.push_back(point.loss.sd);
  }
  series.mark = Mark::LineAndPoints;
  return series;
}

// The steep start would press the rest flat: the highest loss after the first tenth of any curve.
std::optional<double> ceiling(const std::vector<Series>& all) {
  std::optional<double> highest;
  for (const Series& series : all) {
    if (series.y.size() < 5) return std::nullopt;
    for (size_t i = (series.y.size() + 9) / 10; i < series.y.size(); i++)
      highest = std::max(highest.value_or(series.y[i]), series.y[i]);
  }
  return highest;
}

Plot loss_plot(const ComparisonPlan& plan, const std::vector<Cell>& cells,
               const std::vector<RunOutcome>& outcomes, const char* against, const char* label,
               double MeanPoint::*x) {
  Plot plot{fmt::format("Validation loss against {}", against),
            {label, Scale::Linear, {}, {}},
            {"nats a token", Scale::Linear, {}, {}},
            {}};
  for (const Cell& cell : cells) {
    if (cell.runs.empty()) continue;
    plot.series.push_back(loss_curve(cell, outcomes, x));
    plot.series.back().name = plan.models[cell.model].name;
    plot.series.back().style = static_cast<int>(cell.model);
  }
  plot.y.max = ceiling(plot.series);
  return plot;
}

// The final value of `field` over the loops of a family's depths.
Series depth_curve(const ComparisonPlan& plan, const std::vector<Cell>& cells,
                   const std::vector<RunOutcome>& outcomes, const std::string& family,
                   const std::string& field) {
  Series series;
  series.mark = Mark::LineAndPoints;
  bool several = false;
  for (const Cell& cell : cells) {
    const ComparedModel& model = plan.models[cell.model];
    const auto value = final_spread(cell, outcomes, field);
    if (!model.swept || model.family != family || !value) continue;
    series.x.push_back(model.config.num_loops);
    series.y.push_back(value->mean);
    series.spread.push_back(value->sd);
    several = several || value->count > 1;
  }
  if (!several) series.spread.clear();
  return series;
}

std::vector<std::string> swept_families(const ComparisonPlan& plan) {
  std::vector<std::string> families;
  for (const ComparedModel& model : plan.models) {
    const bool known = std::find(families.begin(), families.end(), model.family) != families.end();
    if (model.swept && !known) families.push_back(model.family);
  }
  return families;
}

Plot depth_plot(const std::string& title, const char* label) {
  return {title, {"loops T", Scale::Linear, {}, {}}, {label, Scale::Linear, {}, {}}, {}};
}

void add_depth_losses(HtmlReport& page, const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  Plot plot = depth_plot("Final validation loss against depth", "nats a token");
  for (const Budget budget : plan.recipe.budgets) {
    for (const std::string& family : swept_families(plan)) {
      plot.series.push_back(
          depth_curve(plan, best_cells(plan, outcomes, budget), outcomes, family, "validation_loss"));
      plot.series.back().name = fmt::format("{}, {}", family, budget_heading(budget));
    }
  }
  page.plot(plot);
}

// One curve for each measured accuracy: of a task, one for each kind of its queries.
void add_depth_accuracies(HtmlReport& page, const ComparisonPlan& plan,
                          const std::vector<RunOutcome>& outcomes) {
  const auto accuracies = extra_fields(outcomes, "_accuracy");
  for (const Budget budget : plan.recipe.budgets) {
    const auto cells = best_cells(plan, outcomes, budget);
    for (const std::string& family : swept_families(plan)) {
      Plot plot = depth_plot(fmt::format("Accuracy of {} against depth, {}", family, budget_heading(budget)),
                             "share of answers");
      plot.y.min = 0;
      plot.y.max = 1;
      for (const auto& name : accuracies) {
        plot.series.push_back(depth_curve(plan, cells, outcomes, family, name));
        plot.series.back().name = name;
      }
      if (!accuracies.empty()) page.plot(plot);
    }
  }
}

void add_budget(HtmlReport& page, const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes,
                Budget budget) {
  const auto cells = best_cells(plan, outcomes, budget);
  page.heading(budget_heading(budget));
  page.table(final_table(plan, outcomes, budget),
             "At the end of training: mean over seeds ± standard deviation. Parameters without the embedding "
             "table. KV cache in bytes of one sequence, two bytes an element.");
  page.plot(loss_plot(plan, cells, outcomes, "FLOPs", "training FLOPs", &MeanPoint::flops));
  page.plot(loss_plot(plan, cells, outcomes, "tokens", "tokens trained on", &MeanPoint::tokens));
  page.plot(loss_plot(plan, cells, outcomes, "time", "seconds on this machine", &MeanPoint::seconds));
}

void add_failures(HtmlReport& page, const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  TableRows rows = {{"run", "reason"}};
  for (size_t run = 0; run < plan.runs.size(); run++) {
    if (outcomes[run].progress == RunProgress::Failed)
      rows.push_back({plan.runs[run].name, outcomes[run].reason});
  }
  if (rows.size() == 1) return;
  page.heading("Failed runs");
  page.table(rows);
}

std::string subtitle_of(const ComparisonPlan& plan) {
  const auto& seeds = plan.recipe.seeds;
  return fmt::format("{} models, {} seed{}, {} runs", plan.models.size(), seeds.size(),
                     seeds.size() == 1 ? "" : "s", plan.runs.size());
}

}  // namespace

HtmlReport comparison_report(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes) {
  HtmlReport page(plan.recipe.title.empty() ? "Comparison" : plan.recipe.title, subtitle_of(plan));
  for (const Budget budget : plan.recipe.budgets) add_budget(page, plan, outcomes, budget);
  if (!swept_families(plan).empty()) {
    page.heading("Depth");
    add_depth_losses(page, plan, outcomes);
    add_depth_accuracies(page, plan, outcomes);
  }
  add_failures(page, plan, outcomes);
  return page;
}

}  // namespace onceover
