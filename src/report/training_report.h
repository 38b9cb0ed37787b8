// The page a training run leaves behind, and the one that compares several runs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/html_report.h"
#include "report/record.h"

namespace onceover {

struct RunCurves {
  std::string name;
  std::vector<Record> records;  // as read_records gives them
};

// Key numbers (of a single run) or a table of the last values (of several), then every curve over the tokens
// seen: loss with its smoothed course and validation, bits per byte, gradient norm, learning rate, speed,
// utilisation, memory, and each extra value. The caller adds made_by() and saves.
HtmlReport training_report(std::string_view title, std::string_view subtitle,
                           const std::vector<RunCurves>& runs);

}  // namespace onceover
