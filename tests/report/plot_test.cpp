#include "report/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>

#include "report/curve.h"
#include "report/palette.h"
#include "report/xml.h"
#include "support/fresh_seed.h"

namespace onceover {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Plot plot_of(std::vector<Series> series, Scale scale = Scale::Linear) {
  return {"a plot", {"steps", Scale::Linear, {}, {}}, {"loss", scale, {}, {}}, std::move(series)};
}

Series line(std::vector<double> y) {
  Series series;
  series.name = "run";
  for (size_t i = 0; i < y.size(); i++) series.x.push_back(static_cast<double>(i));
  series.y = std::move(y);
  return series;
}

std::vector<Element> of_class(const std::string& svg, const std::string& name) {
  std::vector<Element> found;
  for (const auto& element : XmlReader(svg).read()) {
    std::istringstream classes(element.attributes.count("class") ? element.attributes.at("class") : "");
    for (std::string one; classes >> one;) {
      if (one == name) found.push_back(element);
    }
  }
  return found;
}

// Of the series, not of the legend.
std::string line_path(const std::string& svg) { return of_class(svg, "line").back().attributes.at("d"); }

size_t count(const std::string& text, char c) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), c));
}

TEST(Svg, DrawsALineThroughEveryPoint) {
  const std::string path = line_path(svg_element(plot_of({line({3, 1, 2})})));
  EXPECT_EQ(count(path, 'M'), 1u);
  EXPECT_EQ(count(path, 'L'), 2u);
}

TEST(Svg, ValuesThatCannotBeShownAreGaps) {
  const std::string path =
      line_path(svg_element(plot_of({line({3, 1, not_a_number, 2, 2, infinity, 1, 1})})));
  EXPECT_EQ(count(path, 'M'), 3u);
  EXPECT_EQ(count(path, 'L'), 3u);
  const std::string log_path = line_path(svg_element(plot_of({line({3, 1, 0, 2, 2, -1, 4, 4})}, Scale::Log)));
  EXPECT_EQ(count(log_path, 'M'), 3u);
}

TEST(Svg, ALonePointBetweenGapsIsMarked) {
  const std::string svg = svg_element(plot_of({line({3, 3, not_a_number, 2, not_a_number, 1, 1})}));
  EXPECT_EQ(of_class(svg, "point").size(), 1u);
  EXPECT_EQ(of_class(svg_element(plot_of({line({3, 3, 1, 1})})), "point").size(), 0u);
}

TEST(Svg, IsWellFormedWhateverTheDataAndTheNames) {
  std::mt19937_64 random(fresh_seed());
  const auto value = [&] {
    const std::vector<double> odd{not_a_number, infinity, -infinity, 0, -1, 1e300, 1e-320, 1e308, 7};
    return random() % 3 == 0
               ? odd[random() % odd.size()]
               : std::ldexp(static_cast<double>(random() % 999), static_cast<int>(random() % 90) - 40);
  };
  const auto name = [&] {
    std::string text(random() % 80, 'w');
    for (char& c : text) c = random() % 2 == 0 ? "<>&\"' \n]-"[random() % 9] : static_cast<char>(random());
    return text;
  };
  for (int round = 0; round < 200; round++) {
    std::vector<Series> list(random() % 9);
    for (auto& series : list) {
      series.name = name();
      series.mark = static_cast<Mark>(random() % 3);
      series.faint = random() % 4 == 0;
      const bool spread = random() % 2 == 0;
      for (uint64_t i = random() % 12; i > 0; i--) {
        series.x.push_back(value());
        series.y.push_back(value());
        if (spread) series.spread.push_back(value());
      }
    }
    const auto scale = [&] { return random() % 2 == 0 ? Scale::Log : Scale::Linear; };
    const Plot plot{name(), {name(), scale(), {}, {}}, {name(), scale(), {}, {}}, list};
    const PlotSize size{160 + static_cast<int>(random() % 700), 120 + static_cast<int>(random() % 500)};
    const std::string svg = svg_file(plot, size);
    for (const auto& element : XmlReader(svg).read()) {
      for (const auto& [key, text] : element.attributes) {
        if (key == "d" || key == "x" || key == "y" || key == "width") {
          EXPECT_EQ(text.find_first_of("nif"), std::string::npos) << key << "=" << text;
        }
        if (key == "width" || key == "height") {
          EXPECT_GT(std::stod(text), 0) << key;
        }
      }
    }
  }
}

TEST(Svg, NamesAreEscapedNotInterpreted) {
  Series series = line({1, 2});
  series.name = "</text><script>alert(1)</script>";
  series.mark = Mark::LineAndPoints;
  Plot plot = plot_of({series});
  plot.title = "\"><script>";
  plot.x.label = "<&>";
  const std::string svg = svg_file(plot, {900, 380});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(of_class(svg, "name")[0].text, series.name);
  EXPECT_EQ(of_class(svg, "title")[0].text, plot.title);
  EXPECT_EQ(XmlReader(svg).read()[0].attributes.at("aria-label"), plot.title);
}

TEST(Svg, BandsCoverTheSpreadAndStayOnALogAxis) {
  Series series = line({10, 10, 10});
  series.spread = {1, not_a_number, 20};
  EXPECT_EQ(of_class(svg_element(plot_of({series})), "band").size(), 1u);
  const std::string path = of_class(svg_element(plot_of({series}, Scale::Log)), "band")[0].attributes.at("d");
  EXPECT_EQ(count(path, 'z'), 2u);
  EXPECT_EQ(path.find("inf"), std::string::npos);
}

TEST(Svg, MarkersTellTheirValues) {
  Series series = line({1.5, 2.5});
  series.mark = Mark::Points;
  std::vector<std::string> titles;
  for (const auto& element : XmlReader(svg_element(plot_of({series}))).read()) {
    if (element.name == "title") titles.push_back(element.text);
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"run: 0, 1.5", "run: 1, 2.5"}));
}

TEST(Svg, LegendNamesEachNamedSeriesAndStaysInside) {
  std::vector<Series> list;
  for (int i = 0; i < 12; i++) {
    list.push_back(line({1, 2}));
    list.back().name = i == 5 ? "" : "a rather long name of a run, number " + std::to_string(i);
  }
  for (const int width : {200, 360, 900}) {
    const auto names = of_class(svg_element(plot_of(list), {width, 500}), "name");
    EXPECT_EQ(names.size(), 11u);
    for (const auto& entry : names) EXPECT_LT(std::stod(entry.attributes.at("x")), width);
  }
}

TEST(Svg, NothingToShowSaysSo) {
  for (const auto& plot :
       {plot_of({}), plot_of({line({not_a_number, not_a_number})}), plot_of({line({-1, 0})}, Scale::Log)}) {
    EXPECT_NE(svg_element(plot).find("no data"), std::string::npos);
  }
  EXPECT_EQ(svg_element(plot_of({line({1})})).find("no data"), std::string::npos);
}

TEST(Svg, RefusesSeriesOfUnequalLengths) {
  Series series = line({1, 2});
  series.x.pop_back();
  EXPECT_THROW(svg_element(plot_of({series})), std::logic_error);
  series = line({1, 2});
  series.spread = {1};
  EXPECT_THROW(svg_element(plot_of({series})), std::logic_error);
  EXPECT_THROW(svg_element(plot_of({}), {10, 10}), std::logic_error);
}

TEST(Svg, AHundredThousandPointsStaySmall) {
  std::mt19937 random(1);
  std::vector<double> y;
  for (int i = 0; i < 100000; i++) y.push_back(static_cast<double>(random() % 1000));
  Series series = line(y);
  series.spread.assign(y.size(), 10);
  EXPECT_LT(svg_element(plot_of({series})).size(), 150000u);
}

TEST(Thinning, KeepsEachColumnsEndsAndExtremes) {
  std::mt19937 random(fresh_seed());
  std::vector<Point> points;
  for (double x = 0; x < 50; x += 0.01) points.push_back({x, static_cast<double>(random() % 10000)});
  const auto thinned = thin(points);
  EXPECT_LE(thinned.size(), 200u);
  for (int column = 0; column < 50; column++) {
    const auto range = [&](const std::vector<Point>& list) {
      std::vector<double> y;
      for (const auto& point : list) {
        if (std::floor(point.x) == column) y.push_back(point.y);
      }
      return std::vector<double>{y.front(), y.back(), *std::min_element(y.begin(), y.end()),
                                 *std::max_element(y.begin(), y.end())};
    };
    EXPECT_EQ(range(thinned), range(points));
  }
}

TEST(Thinning, LeavesPointsAloneWhoseXFalls) {
  const std::vector<Point> points{{1, 1}, {1.1, 2}, {1.2, 3}, {1.3, 2.5}, {0.5, 0}, {1.25, 2}};
  EXPECT_EQ(thin(points).size(), points.size());
}

TEST(Smoothing, FollowsAConstantFromTheStartAndHalvesAStep) {
  EXPECT_EQ(smooth({5, 5, 5}, 10), (std::vector<double>{5, 5, 5}));
  std::vector<double> step(2000, 0);
  step.insert(step.end(), 10, 1);
  EXPECT_NEAR(smooth(step, 10).back(), 0.5, 1e-12);
  EXPECT_EQ(smooth({1, 2, 3}, 0), (std::vector<double>{1, 2, 3}));
}

TEST(Smoothing, ANaNStaysOneGap) {
  const auto smoothed = smooth({4, not_a_number, 4}, 3);
  EXPECT_EQ(smoothed[0], 4);
  EXPECT_TRUE(std::isnan(smoothed[1]));
  EXPECT_DOUBLE_EQ(smoothed[2], 4);
}

double luminance(const std::string& colour) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (size_t i = 0; i < 3; i++) {
    const double c = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

// Web Content Accessibility Guidelines 2.1, 1.4.11: graphics stand at 3:1 or more against what is beside
// them.
TEST(Palette, EveryColourStandsOutFromItsPaper) {
  for (const char* colour : light_colours)
    EXPECT_GE((luminance(light_paper) + 0.05) / (luminance(colour) + 0.05), 3.0) << colour;
  for (const char* colour : dark_colours)
    EXPECT_GE((luminance(colour) + 0.05) / (luminance(dark_paper) + 0.05), 3.0) << colour;
}

TEST(Palette, ThirtyFiveSeriesLookDifferent) {
  std::set<std::string> looks;
  for (int i = 0; i < 35; i++) looks.insert(look(i, false));
  EXPECT_EQ(looks.size(), 35u);
}

}  // namespace
}  // namespace onceover
