// The page of a comparison: for each budget the final table and validation loss against FLOPs, tokens and
// time (Figure 2 of arXiv 2604.01220); results against depth where a model has several (its Figure 6).
#pragma once
#include <vector>

#include "compare/results.h"
#include "report/html_report.h"

namespace onceover {

// Curves are means over seeds with a band of one standard deviation. The caller adds made_by() and saves.
HtmlReport comparison_report(const ComparisonPlan& plan, const std::vector<RunOutcome>& outcomes);

}  // namespace onceover
