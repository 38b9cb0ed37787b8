#include "report/training_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/text.h"
#include "report/progress.h"

namespace onceover {
namespace {

using Has = std::function<bool(const Record&)>;
using Value = std::function<double(const Record&)>;

double validation_loss(const Record& record) { return record.validation->loss; }

double bits_per_byte(const Record& record) { return record.validation->bits_per_byte; }

bool every_record(const Record&) { return true; }

bool has_validation(const Record& record) { return record.validation.has_value(); }

bool any(const std::vector<RunCurves>& runs, const Has& holds) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunCurves& run) {
    return std::any_of(run.records.begin(), run.records.end(), holds);
  });
}

// Only the records that hold the value, so that its points are joined although other records lie between
// them. A value that is present but not finite stays, as a gap.
Series curve(const RunCurves& run, const Has& holds, const Value& value) {
  Series series;
  series.name = run.name;
  for (const auto& record : run.records) {
    if (!holds(record)) continue;
    series.x.push_back(static_cast<double>(record.tokens));
    series.y.push_back(value(record));
  }
  return series;
}

Plot over_tokens(std::string title, std::string label, Scale scale = Scale::Linear) {
  return {std::move(title), {"tokens", Scale::Linear, {}, {}}, {std::move(label), scale, {}, {}}, {}};
}

Plot exact_plot(const std::vector<RunCurves>& runs, Plot plot, const Value& value) {
  for (const auto& run : runs) plot.series.push_back(curve(run, every_record, value));
  if (runs.size() == 1) plot.series[0].name.clear();  // the title says it
  return plot;
}

// The smoothed course of each run; of a single run also the values themselves, pale, under it.
Plot noisy_plot(const std::vector<RunCurves>& runs, Plot plot, const Has& holds, const Value& value) {
  for (size_t i = 0; i < runs.size(); i++) {
    Series raw = curve(runs[i], holds, value);
    Series smoothed = raw;
    smoothed.y = smooth(raw.y, static_cast<double>(raw.y.size()) / 200);
    smoothed.name = runs.size() == 1 ? "smoothed" : runs[i].name;
    raw.name = "as measured";
    raw.faint = true;
    raw.style = smoothed.style = static_cast<int>(i);
    if (runs.size() == 1) plot.series.push_back(std::move(raw));
    plot.series.push_back(std::move(smoothed));
  }
  return plot;
}

Plot validation_plot(const std::vector<RunCurves>& runs, Plot plot, const Value& value) {
  for (const auto& run : runs) {
    plot.series.push_back(curve(run, has_validation, value));
    plot.series.back().mark = Mark::LineAndPoints;
  }
  if (runs.size() == 1) plot.series[0].name.clear();
  return plot;
}

// The highest loss after the first twentieth of every run: the steep start would press the rest flat.
std::optional<double> loss_ceiling(const std::vector<RunCurves>& runs) {
  std::optional<double> ceiling;
  for (const auto& run : runs) {
    for (size_t i = run.records.size() / 20; i < run.records.size(); i++) {
      const double loss = run.records[i].loss;
      if (std::isfinite(loss)) ceiling = std::max(ceiling.value_or(loss), loss);
    }
  }
  return ceiling;
}

void add_loss(HtmlReport& report, const std::vector<RunCurves>& runs) {
  Plot plot = noisy_plot(runs, over_tokens("Training loss", "nats a token"), every_record, &Record::loss);
  if (runs.size() == 1 && any(runs, has_validation)) {
    Plot validation = validation_plot(runs, {}, validation_loss);
    validation.series[0].name = "validation";
    validation.series[0].style = 1;
    plot.series.push_back(validation.series[0]);
  }
  plot.y.max = loss_ceiling(runs);
  report.plot(plot, "The steep first twentieth of a run may lie above the frame.");
}

// 8.18e18
std::string format_flops(double flops) {
  if (!std::isfinite(flops)) return "–";
  std::string text = fmt::format("{:.2e}", flops);
  std::erase(text, '+');
  return text;
}

std::string number(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "–";
}

struct LastValue {
  std::string name, value;
};

std::vector<LastValue> last_values(const RunCurves& run) {
  if (run.records.empty()) return {};
  const Record& last = run.records.back();
  const auto validated =
      std::find_if(run.records.rbegin(), run.records.rend(), [](const Record& r) { return r.validation; });
  const bool any = validated != run.records.rend();
  return {{"Training loss", number(last.loss, 4)},
          {"Validation loss", any ? number(validated->validation->loss, 4) : "–"},
          {"Bits per byte", any ? number(validated->validation->bits_per_byte, 4) : "–"},
          {"Steps", fmt::format("{}", last.step)},
          {"Tokens", format_count(static_cast<double>(last.tokens))},
          {"FLOPs", format_flops(last.flops)},
          {"Time", format_seconds(last.wall_seconds)},
          {"MFU", std::isfinite(last.mfu) ? number(100 * last.mfu, 1) + " %" : "–"},
          {"Peak memory", format_bytes(static_cast<double>(last.memory_bytes))}};
}

void add_summary(HtmlReport& report, const std::vector<RunCurves>& runs) {
  std::vector<std::vector<std::string>> rows;
  HtmlReport::Pairs figures;
  for (const auto& run : runs) {
    const auto values = last_values(run);
    std::vector<std::string> header{"Run"}, row{run.name};
    for (const auto& [name, value] : values) {
      header.push_back(name);
      row.push_back(value);
      figures.emplace_back(name, value);
    }
    if (rows.empty() && !values.empty()) rows.push_back(header);
    if (!values.empty()) rows.push_back(row);
  }
  if (rows.empty()) return report.paragraph("No record was written.");
  if (rows.size() == 2) return report.figures(figures);
  report.table(rows, "At the last record of each run");
}

void add_extras(HtmlReport& report, const std::vector<RunCurves>& runs) {
  std::set<std::string> names;
  for (const auto& run : runs) {
    for (const auto& record : run.records) {
      for (const auto& extra : record.extra) names.insert(extra.first);
    }
  }
  if (!names.empty()) report.heading("Other measurements");
  for (const auto& name : names) {
    report.plot(noisy_plot(
        runs, over_tokens(name, ""), [&](const Record& record) { return record.extra.contains(name); },
        [&](const Record& record) { return record.extra.at(name); }));
  }
}

void add_learning(HtmlReport& report, const std::vector<RunCurves>& runs) {
  report.heading("Learning");
  add_loss(report, runs);
  if (runs.size() > 1 && any(runs, has_validation)) {
    report.plot(validation_plot(runs, over_tokens("Validation loss", "nats a token"), validation_loss));
  }
  if (any(runs, has_validation)) {
    report.plot(validation_plot(runs, over_tokens("Validation, bits per byte", "bits a byte of text"),
                                bits_per_byte));
  }
  report.plot(noisy_plot(runs, over_tokens("Gradient norm", "before clipping", Scale::Log), every_record,
                         &Record::grad_norm));
  report.plot(exact_plot(runs, over_tokens("Learning rate", ""), &Record::learning_rate));
}

void add_cost(HtmlReport& report, const std::vector<RunCurves>& runs) {
  report.heading("Cost");
  report.plot(
      noisy_plot(runs, over_tokens("Speed", "tokens a second"), every_record, &Record::tokens_per_second));
  report.plot(noisy_plot(runs, over_tokens("Model FLOPs utilisation", "share of the peak, %"), every_record,
                         [](const Record& record) { return 100 * record.mfu; }));
  Plot memory = exact_plot(runs, over_tokens("Peak memory", "GiB"), [](const Record& record) {
    return static_cast<double>(record.memory_bytes) / (1 << 30);
  });
  memory.y.min = 0;
  report.plot(memory);
}

}  // namespace

HtmlReport training_report(std::string_view title, std::string_view subtitle,
                           const std::vector<RunCurves>& runs) {
  HtmlReport report(title, subtitle);
  add_summary(report, runs);
  add_learning(report, runs);
  add_cost(report, runs);
  add_extras(report, runs);
  return report;
}

}  // namespace onceover
