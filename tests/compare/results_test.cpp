#include "compare/results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/comparison_report.h"
#include "compare/mean_curve.h"
#include "compare/support.h"
#include "report/xml.h"
#include "support/errors.h"

namespace onceover {
namespace {

Record record_at(int64_t step, double loss) {
  Record r;
  r.step = step;
  r.tokens = 48 * step;
  r.flops = 1e6 * static_cast<double>(step);
  r.wall_seconds = static_cast<double>(step);
  r.loss = loss + 0.5;
  r.tokens_per_second = 480;
  r.validation = Validation{loss, std::nan("")};
  r.extra = {{"validation_accuracy", 0.25}, {"swaps_4_accuracy", 0.5}, {"loop_1_rms", 1}};
  return r;
}

// Made up: run i ends with a loss of i / 8.
struct Results {
  explicit Results(Recipe recipe = testing::small_recipe())
      : plan(plan_comparison(recipe, testing::cpu_tools())) {
    for (size_t run = 0; run < plan.runs.size(); run++) {
      RunOutcome outcome;
      outcome.progress = RunProgress::Done;
      const double loss = static_cast<double>(run) / 8;
      outcome.records = {record_at(1, loss + 2), record_at(2, loss + 1), record_at(6, loss)};
      outcomes.push_back(outcome);
    }
  }
  ComparisonPlan plan;
  std::vector<RunOutcome> outcomes;
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> list;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\r\n", at);
    list.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return list;
}

size_t commas(const std::string& line) {
  return static_cast<size_t>(std::count(line.begin(), line.end(), ','));
}

TEST(Spread, IsTheMeanAndTheDeviationOfASample) {
  EXPECT_FALSE(spread_of({}));
  EXPECT_EQ(spread_of({3})->sd, 0);
  const Spread spread = *spread_of({1, 2, 6});
  EXPECT_DOUBLE_EQ(spread.mean, 3);
  EXPECT_DOUBLE_EQ(spread.sd, std::sqrt(7));
}

TEST(FinalTable, HoldsMeansOverSeedsForEveryModel) {
  const Results results;
  const TableRows rows = final_table(results.plan, results.outcomes, Budget::Steps);
  ASSERT_EQ(rows.size(), 4U);
  const std::vector<std::string> header = {"model",
                                           "parameters",
                                           "loops",
                                           "steps",
                                           "tokens",
                                           "FLOPs",
                                           "validation loss",
                                           "FLOPs to plain's loss",
                                           "bits per byte",
                                           "swaps 4 accuracy",
                                           "validation accuracy",
                                           "KV cache at 64",
                                           "tokens/s"};
  EXPECT_EQ(rows[0], header);
  EXPECT_EQ(rows[3][0], "deep T=3");
  EXPECT_EQ(rows[3][2], "3");
  std::vector<double> losses;
  for (size_t run = 0; run < results.plan.runs.size(); run++) {
    const PlannedRun& planned = results.plan.runs[run];
    if (planned.model == 2 && planned.answers(Budget::Steps)) losses.push_back(static_cast<double>(run) / 8);
  }
  ASSERT_EQ(losses.size(), 2U);
  const Spread spread = *spread_of(losses);
  EXPECT_EQ(rows[3][6], fmt::format("{:.4f} ± {:.4f}", spread.mean, spread.sd));
  EXPECT_EQ(rows[1][7], "100%");
  EXPECT_EQ(rows[3][7], "–");
  EXPECT_EQ(rows[3][8], "–");
  EXPECT_EQ(rows[3][9], "0.500 ± 0.000");
  EXPECT_EQ(rows[3][12], "640");  // 64 tokens a step, of which 48 are scored, 480 of them a second
}

TEST(ExtraFields, ComeByTheirNumbers) {
  RunOutcome outcome;
  outcome.records.resize(1);
  outcome.records[0].extra = {
      {"swaps_16_accuracy", 0}, {"swaps_4_accuracy", 0}, {"swaps_8_accuracy", 0}, {"loop_1_rms", 0}};
  EXPECT_EQ(extra_fields({outcome}, "_accuracy"),
            (std::vector<std::string>{"swaps_4_accuracy", "swaps_8_accuracy", "swaps_16_accuracy"}));
}

TEST(FinalTable, SaysWhichRunsAreMissing) {
  Results results;
  results.outcomes[0].progress = RunProgress::Failed;
  results.outcomes[1].progress = RunProgress::Waiting;
  results.outcomes[1].records.clear();
  const TableRows rows = final_table(results.plan, results.outcomes, Budget::Steps);
  EXPECT_TRUE(contains(rows[1][6], "(1 failed)")) << rows[1][6];
  EXPECT_FALSE(contains(rows[1][6], "±")) << rows[1][6];
  EXPECT_TRUE(contains(rows[2][6], "(1 to come)")) << rows[2][6];
}

TEST(MeanCurve, HoldsTheStepsThatEverySeedHasMeasured) {
  Results results;
  const Cell cell = cells_of(results.plan, results.outcomes, Budget::Steps)[0];
  ASSERT_EQ(cell.runs.size(), 2U);
  results.outcomes[cell.runs[0]].records.erase(results.outcomes[cell.runs[0]].records.begin() + 1);
  const auto curve = mean_curve(cell, results.outcomes);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].step, 1);
  EXPECT_EQ(curve[1].step, 6);
  EXPECT_DOUBLE_EQ(curve[1].flops, 6e6);
  EXPECT_DOUBLE_EQ(curve[1].tokens, 288);
  EXPECT_DOUBLE_EQ(curve[1].loss.mean, static_cast<double>(cell.runs[0] + cell.runs[1]) / 16);
}

TEST(MeanCurve, TellsWhereItFirstReachesTheReferencesLoss) {
  const auto curve = [](std::vector<double> losses) {
    std::vector<MeanPoint> points;
    for (size_t i = 0; i < losses.size(); i++)
      points.push_back(
          {static_cast<int64_t>(i + 1), 0, 10.0 * static_cast<double>(i + 1), 0, {losses[i], 0, 1}});
    return points;
  };
  const auto reference = curve({8, 4});
  EXPECT_DOUBLE_EQ(*flops_share_to_reach(reference, reference), 1);
  EXPECT_DOUBLE_EQ(*flops_share_to_reach(reference, curve({6, 2, 1})), 0.75);
  EXPECT_DOUBLE_EQ(*flops_share_to_reach(reference, curve({3, 2})), 0.5);
  EXPECT_FALSE(flops_share_to_reach(reference, curve({6, 5, 4.5})));
  EXPECT_FALSE(flops_share_to_reach({}, reference));
}

TEST(BestCells, HoldTheLearningRateOfTheLowestLoss) {
  Recipe recipe = testing::small_recipe();
  recipe.learning_rates = {3e-3, 1e-3};
  Results results(recipe);
  for (size_t run = 0; run < results.plan.runs.size(); run++) {
    const bool low = results.plan.runs[run].settings.optimiser.learning_rate == 1e-3;
    results.outcomes[run].records.back().validation->loss = low ? 1 : 2;
  }
  for (const Cell& cell : best_cells(results.plan, results.outcomes, Budget::Flops))
    EXPECT_EQ(cell.learning_rate, 1e-3);
  results.outcomes[1] = {};  // the first model's, at the lower rate
  ASSERT_EQ(results.plan.runs[1].settings.optimiser.learning_rate, 1e-3);
  results.outcomes[1].progress = RunProgress::Failed;
  EXPECT_EQ(best_cells(results.plan, results.outcomes, Budget::Steps)[0].learning_rate, 3e-3);
  EXPECT_EQ(final_table(results.plan, results.outcomes, Budget::Steps)[0][3], "learning rate");
}

TEST(ResultsCsv, HasARowForEveryRun) {
  Results results;
  results.outcomes[2] = {};
  results.outcomes[2].progress = RunProgress::Failed;
  results.outcomes[2].reason = "loss, \"nan\"";
  const auto rows = lines(results_csv(results.plan, results.outcomes));
  ASSERT_EQ(rows.size(), results.plan.runs.size() + 1);
  EXPECT_TRUE(rows[0].starts_with("run,model,budgets,loops,learning_rate,seed,")) << rows[0];
  EXPECT_TRUE(rows[0].ends_with(",loop_1_rms,swaps_4_accuracy,validation_accuracy")) << rows[0];
  EXPECT_TRUE(rows[1].starts_with("plain-6-steps-seed-1,plain,steps flops,1,0.0003,1,")) << rows[1];
  EXPECT_TRUE(contains(rows[3], ",failed,\"loss, \"\"nan\"\"\",,")) << rows[3];
  EXPECT_EQ(commas(rows[1]), commas(rows[0]));
}

TEST(CurvesCsv, HasARowForEveryRecord) {
  const Results results;
  const auto rows = lines(curves_csv(results.plan, results.outcomes));
  ASSERT_EQ(rows.size(), 3 * results.plan.runs.size() + 1);
  for (const auto& row : rows) EXPECT_EQ(commas(row), commas(rows[0]));
  EXPECT_TRUE(contains(rows[0], ",step,tokens,")) << rows[0];
  EXPECT_TRUE(contains(rows[3], ",6,288,")) << rows[3];
}

// The page without its doctype, and with its void elements closed: then it must be XML.
std::vector<Element> elements_of(std::string html) {
  html.erase(0, html.find("<html"));
  for (size_t at = 0; (at = html.find("<meta", at)) != std::string::npos;) {
    at = html.find('>', at);
    html.insert(html.begin() + static_cast<std::ptrdiff_t>(at), '/');
  }
  return XmlReader(html).read();
}

size_t plots_titled(const std::vector<Element>& elements, const std::string& title) {
  size_t found = 0;
  for (const auto& element : elements) {
    const auto label = element.attributes.find("aria-label");
    found += element.name == "svg" && label != element.attributes.end() && label->second == title;
  }
  return found / 2;  // wide and narrow
}

TEST(ComparisonReport, IsOneWellFormedPageThatNeedsNothingElse) {
  Results results;
  results.plan.models[0].name = "<script>alert(1)</script>";
  results.outcomes[2].progress = RunProgress::Failed;
  results.outcomes[2].reason = "<b>&";
  const std::string html = comparison_report(results.plan, results.outcomes).html();
  const auto elements = elements_of(html);
  for (const char* against : {"FLOPs", "tokens", "time"})
    EXPECT_EQ(plots_titled(elements, fmt::format("Validation loss against {}", against)), 2U);
  EXPECT_EQ(plots_titled(elements, "Final validation loss against depth"), 1U);
  EXPECT_EQ(plots_titled(elements, "Accuracy of deep against depth, Equal FLOPs"), 1U);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  for (const char* outside : {"src=", "href=", "url(", "@import"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(ComparisonReport, IsWholeBeforeAnyRunIsDone) {
  Results results;
  for (RunOutcome& outcome : results.outcomes) outcome = {};
  EXPECT_NO_THROW(elements_of(comparison_report(results.plan, results.outcomes).html()));
}

}  // namespace
}  // namespace onceover
