#include "report/html_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/markup.h"
#include "report/training_report.h"
#include "report/xml.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// The page without its doctype, and with its void elements closed: then it must be XML.
std::vector<Element> elements_of(std::string html) {
  html.erase(0, html.find("<html"));
  size_t at = 0;
  while ((at = html.find("<meta", at)) != std::string::npos) {
    at = html.find('>', at);
    html.insert(html.begin() + static_cast<std::ptrdiff_t>(at), '/');
  }
  return XmlReader(html).read();
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) found++;
  return found;
}

std::vector<std::string> texts(const std::vector<Element>& elements, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& element : elements) {
    if (element.name == name) found.push_back(element.text);
  }
  return found;
}

const std::string evil = "</pre></td><script>alert('1')</script>&amp;\"";

HtmlReport full_report(const std::string& text) {
  HtmlReport report(text, text);
  report.heading(text);
  report.paragraph(text);
  report.figures({{text, text}});
  Series series;
  series.name = text;
  series.x = {1, 2};
  series.y = {1, 2};
  report.plot({text, {text, Scale::Linear, {}, {}}, {text, Scale::Linear, {}, {}}, {series}}, text);
  report.plot({text, {}, {}, {}});
  report.table({{text, text}, {text, text}}, text);
  report.made_by({{text, text}}, text);
  return report;
}

TEST(HtmlReport, EverythingGivenIsEscaped) {
  const std::string html = full_report(evil).html();
  EXPECT_EQ(html.find("<script"), std::string::npos);
  const auto elements = elements_of(html);
  for (const char* name : {"h1", "h2", "dt", "dd", "figcaption", "caption", "td", "pre"}) {
    const auto found = texts(elements, name);
    ASSERT_FALSE(found.empty()) << name;
    for (const auto& text : found) EXPECT_EQ(text, evil) << name;
  }
}

TEST(HtmlReport, NeedsNothingFromOutside) {
  for (const auto& element : elements_of(full_report("x").html())) {
    EXPECT_NE(element.name, "script");
    EXPECT_NE(element.name, "link");
    EXPECT_NE(element.name, "img");
    for (const auto& [key, value] : element.attributes) {
      EXPECT_NE(key, "src");
      EXPECT_NE(key, "href");
      EXPECT_NE(key, "style");
      EXPECT_NE(key.substr(0, 2), "on");
    }
  }
  const std::string html = full_report("x").html();
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlReport, ShowsTheExactConfiguration) {
  HtmlReport report("t");
  const std::string config = "{\n  \"loops\": 3,\n\t\"name\": \"a & b\"\n}\n";
  report.made_by({{"Seed", "1"}}, config);
  EXPECT_EQ(texts(elements_of(report.html()), "pre"), (std::vector<std::string>{config}));
  EXPECT_NE(report.html().find("<summary>How this was made</summary>"), std::string::npos);
}

TEST(HtmlReport, NeighbouringPlotsShareARowAndOthersDoNot) {
  HtmlReport report("t");
  report.plot({});
  report.plot({});
  report.paragraph("between");
  report.plot({});
  EXPECT_EQ(count(report.html(), "class=\"plots\""), 2u);
  EXPECT_EQ(count(report.html(), "<figure>"), 3u);
  EXPECT_NO_THROW(elements_of(report.html()));
}

TEST(HtmlReport, SavesThePage) {
  const TemporaryFolder folder;
  const HtmlReport report = full_report("x");
  report.save((folder / "report.html").string());
  EXPECT_EQ(read_bytes((folder / "report.html").string()), report.html());
}

TEST(HtmlTable, NumbersAlignRightAndWordsLeft) {
  const auto elements =
      XmlReader(
          html_table({{"Model", "Loss", "Memory"}, {"yoco-u", "2.91 ± 0.1", "1.5 GiB"}, {"plain", "-", ""}}))
          .read();
  std::vector<std::string> aligned;
  for (const auto& element : elements) {
    if (element.attributes.count("class")) aligned.push_back(element.text);
  }
  EXPECT_EQ(aligned, (std::vector<std::string>{"Loss", "Memory", "2.91 ± 0.1", "1.5 GiB", "-", ""}));
}

Record record_at(int64_t step, bool validated) {
  Record record;
  record.step = step;
  record.tokens = step * 1000;
  record.flops = 1e15 * static_cast<double>(step);
  record.loss = step == 4 ? std::nan("") : 3 - 0.1 * static_cast<double>(step);
  record.grad_norm = 0.5;
  record.memory_bytes = int64_t{3} << 30;
  if (validated) record.validation = Validation{2.25, 0.875};
  return record;
}

TEST(TrainingReport, ShowsTheLastValuesOfASingleRun) {
  RunCurves run{"a", {}};
  for (int64_t step = 1; step <= 9; step++) run.records.push_back(record_at(step, step == 5));
  const auto elements = elements_of(training_report("t", "s", {run}).html());
  EXPECT_EQ(texts(elements, "dd"), (std::vector<std::string>{"2.1000", "2.2500", "0.8750", "9", "9.00K",
                                                             "9.00e15", "0:00", "0.0 %", "3.0 GiB"}));
}

TEST(TrainingReport, ComparesRunsInATableAndEveryPlot) {
  RunCurves first{"first <run>", {record_at(1, true), record_at(2, false)}},
      second{"second", {record_at(1, false)}};
  second.records[0].extra["balance"] = 1;
  const std::string html = training_report("t", "", {first, second}).html();
  const auto cells = texts(elements_of(html), "td");
  ASSERT_EQ(cells.size(), 20u);
  EXPECT_EQ(cells[0], "first <run>");
  EXPECT_EQ(cells[2], "2.2500");
  EXPECT_EQ(cells[12], "–") << "the second run was never validated";
  EXPECT_EQ(count(html, "<figure>"), 9u);
}

TEST(TrainingReport, CopesWithNoRunNoRecordAndNoFiniteValue) {
  RunCurves lost{"lost", {record_at(4, false)}};
  for (const auto& runs :
       {std::vector<RunCurves>{}, {RunCurves{"empty", {}}}, {lost}, {lost, RunCurves{"empty", {}}}}) {
    EXPECT_NO_THROW(elements_of(training_report("t", "", runs).html()));
  }
}

}  // namespace
}  // namespace onceover
