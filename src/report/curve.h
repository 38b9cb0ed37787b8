// One series as SVG elements inside the frame of a plot. Used by svg.cpp only.
#pragma once
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/plot.h"

namespace onceover {

struct Canvas {
  const AxisMap &x, &y;
  int width, height;  // pixels
};

// The band under the line; empty when nothing of it can be shown.
std::string draw_line_part(const Series& series, int style, const Canvas& canvas);
// The markers: of a Mark::Line series only those of lone points between gaps, which no line could show.
std::string draw_marker_part(const Series& series, int style, const Canvas& canvas);

// Class names (plot_css) of a series' look, and its marker's outline.
std::string look(int style, bool faint);
const char* marker(int style);

struct Point {
  double x, y;  // pixels
};

// Fewer points that draw the same line: of each pixel column the first, lowest, highest and last. Only where
// x never falls; other points are returned as they are.
std::vector<Point> thin(const std::vector<Point>& points);

}  // namespace onceover
