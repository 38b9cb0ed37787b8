// Plots as SVG: lines, points and bands over linear or log axes. No script, no external resource.
//
// Colours are told apart by colour-blind readers (checked for protan, deutan and tritan vision) and stand at
// 3:1 or more against the paper; series also differ in dash pattern and marker. The paper follows the
// reader's light or dark scheme. All text is escaped. A value that an axis cannot show (NaN, infinite, 0 or
// less on a log axis) is a gap.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/axis.h"

namespace onceover {

enum class Mark { Line, Points, LineAndPoints };

struct Series {
  std::string name;            // empty: not in the legend
  std::vector<double> x, y;    // of equal length
  std::vector<double> spread;  // empty, or one a point: the band y - spread .. y + spread
  Mark mark = Mark::Line;
  bool faint = false;  // behind the others, pale: raw values under their smoothed curve
  int style = -1;  // colour, dash and marker; the same number looks the same. -1: the place among the series
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

struct PlotSize {
  int width = 640, height = 380;  // pixels; at least 160 x 120
};

// A file of its own. std::logic_error when a series' lengths differ or the size is too small.
std::string svg_file(const Plot& plot, PlotSize size = {});

// An <svg> element for a page that holds plot_css() once.
std::string svg_element(const Plot& plot, PlotSize size = {});
std::string plot_css();

// For smoothing noisy curves: the exponential average that forgets half after `half_life` values, free of the
// start's bias. Values that are not finite stay as they are and do not spread.
std::vector<double> smooth(const std::vector<double>& values, double half_life);

}  // namespace onceover
