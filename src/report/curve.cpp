#include "report/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.h"
#include "report/palette.h"

namespace onceover {
namespace {

constexpr size_t most_tooltips = 300;  // beyond that a page would grow for names nobody can aim at

bool shown(const Series& series, size_t i, const Canvas& canvas) {
  return canvas.x.shows(series.x[i]) && canvas.y.shows(series.y[i]);
}

Point place(double x, double y, const Canvas& canvas) {
  return {canvas.x.at(x) * canvas.width, (1 - canvas.y.at(y)) * canvas.height};
}

// Calls visit(first, last) for each unbroken run [first, last) of indices for which holds(i).
template <class Holds, class Visit>
void for_each_run(size_t count, Holds holds, Visit visit) {
  for (size_t first = 0; first < count; first++) {
    if (!holds(first)) continue;
    size_t last = first;
    while (last < count && holds(last)) last++;
    visit(first, last);
    first = last;
  }
}

std::string path_of(const std::vector<Point>& points) {
  std::string path;
  for (size_t i = 0; i < points.size(); i++) {
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', points[i].x, points[i].y);
  }
  return path;
}

std::string draw_line(const Series& series, const Canvas& canvas) {
  std::string path;
  for_each_run(
      series.x.size(), [&](size_t i) { return shown(series, i, canvas); },
      [&](size_t first, size_t last) {
        if (last - first == 1) return;
        std::vector<Point> points;
        for (size_t i = first; i < last; i++) points.push_back(place(series.x[i], series.y[i], canvas));
        path += path_of(thin(points));
      });
  return path.empty() ? "" : "<path class=\"line\" d=\"" + path + "\"/>\n";
}

// On a log axis a lower edge of 0 or less lies at the bottom of the plot.
std::string draw_band(const Series& series, const Canvas& canvas) {
  const auto holds = [&](size_t i) {
    return shown(series, i, canvas) && series.spread[i] >= 0 &&
           canvas.y.shows(series.y[i] + series.spread[i]);
  };
  std::string path;
  for_each_run(series.spread.size(), holds, [&](size_t first, size_t last) {
    std::vector<Point> upper, lower;
    for (size_t i = first; i < last; i++) {
      const double low = series.y[i] - series.spread[i];
      upper.push_back(place(series.x[i], series.y[i] + series.spread[i], canvas));
      lower.push_back(place(series.x[i], canvas.y.shows(low) ? low : canvas.y.low(), canvas));
    }
    upper = thin(upper);
    lower = thin(lower);
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    path += path_of(upper) + "z";
  });
  return path.empty() ? "" : "<path class=\"band\" d=\"" + path + "\"/>\n";
}

bool is_lone(const Series& series, size_t i, const Canvas& canvas) {
  const bool before = i > 0 && shown(series, i - 1, canvas);
  return !before && !(i + 1 < series.x.size() && shown(series, i + 1, canvas));
}

std::string draw_points(const Series& series, int style, const Canvas& canvas) {
  std::string svg, path;
  const bool tooltips = series.x.size() <= most_tooltips;
  for (size_t i = 0; i < series.x.size(); i++) {
    if (!shown(series, i, canvas)) continue;
    if (series.mark == Mark::Line && !is_lone(series, i, canvas)) continue;
    const Point point = place(series.x[i], series.y[i], canvas);
    const std::string outline = fmt::format("M{:.1f} {:.1f}{}", point.x, point.y, marker(style));
    if (!tooltips) {
      path += outline;
      continue;
    }
    svg += fmt::format("<path class=\"point\" d=\"{}\"><title>{}{}{:.6g}, {:.6g}</title></path>\n", outline,
                       escape_markup(series.name), series.name.empty() ? "" : ": ", series.x[i], series.y[i]);
  }
  return path.empty() ? svg : "<path class=\"point\" d=\"" + path + "\"/>\n";
}

std::string grouped(const std::string& svg, const Series& series, int style) {
  return svg.empty() ? "" : fmt::format("<g class=\"{}\">\n{}</g>\n", look(style, series.faint), svg);
}

std::vector<Point> thin_column(const std::vector<Point>& column) {
  const auto above = [](const Point& a, const Point& b) { return a.y < b.y; };
  const auto [low, high] = std::minmax_element(column.begin(), column.end(), above);
  std::vector<size_t> keep{0, static_cast<size_t>(low - column.begin()),
                           static_cast<size_t>(high - column.begin()), column.size() - 1};
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
  std::vector<Point> points;
  for (const size_t i : keep) points.push_back(column[i]);
  return points;
}

}  // namespace

std::string draw_line_part(const Series& series, int style, const Canvas& canvas) {
  std::string svg = draw_band(series, canvas);
  if (series.mark != Mark::Points) svg += draw_line(series, canvas);
  return grouped(svg, series, style);
}

std::string draw_marker_part(const Series& series, int style, const Canvas& canvas) {
  return grouped(draw_points(series, style, canvas), series, style);
}

std::string look(int style, bool faint) {
  const auto entry = static_cast<size_t>(style);
  return fmt::format("c{} d{}{}", entry % light_colours.size(), entry % dashes.size(), faint ? " faint" : "");
}

const char* marker(int style) { return markers[static_cast<size_t>(style) % markers.size()]; }

std::vector<Point> thin(const std::vector<Point>& points) {
  const auto leftwards = [](const Point& a, const Point& b) { return b.x < a.x; };
  if (std::adjacent_find(points.begin(), points.end(), leftwards) != points.end()) return points;
  std::vector<Point> thinned, column;
  for (size_t i = 0; i < points.size(); i++) {
    column.push_back(points[i]);
    if (i + 1 < points.size() && std::floor(points[i + 1].x) == std::floor(points[i].x)) continue;
    for (const auto& point : thin_column(column)) thinned.push_back(point);
    column.clear();
  }
  return thinned;
}

}  // namespace onceover
