#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/curve.h"
#include "report/drawn_text.h"
#include "report/markup.h"
#include "report/palette.h"
#include "report/plot.h"

namespace onceover {
namespace {

// Pixels. Text is measured by a usual width of a character: the reader's font is not known here.
constexpr int line_height = 17, character_width = 7, title_character_width = 8, swatch_width = 26, edge = 10;

struct Frame {
  int left, top, width, height;
};

struct Entry {
  const Series* series;
  int style;
  std::string name;
  int x, row;
};

struct Layout {
  std::vector<std::string> title_lines;
  std::vector<Entry> legend;
  Frame frame;
  std::vector<Tick> x_ticks, y_ticks;
};

void check(const Plot& plot, PlotSize size) {
  if (size.width < 160 || size.height < 120) throw std::logic_error("a plot needs at least 160 x 120 pixels");
  for (const auto& series : plot.series) {
    if (series.x.size() == series.y.size() &&
        (series.spread.empty() || series.spread.size() == series.y.size()))
      continue;
    throw std::logic_error(fmt::format("series '{}': {} x, {} y, {} spread values", series.name,
                                       series.x.size(), series.y.size(), series.spread.size()));
  }
}

int style_of(const Plot& plot, const Series& series) {
  return series.style >= 0 ? series.style : static_cast<int>(&series - plot.series.data());
}

AxisMap x_map(const Plot& plot) {
  std::vector<double> values;
  for (const auto& series : plot.series) values.insert(values.end(), series.x.begin(), series.x.end());
  return {plot.x, values};
}

AxisMap y_map(const Plot& plot) {
  std::vector<double> values;
  for (const auto& series : plot.series) {
    values.insert(values.end(), series.y.begin(), series.y.end());
    for (size_t i = 0; i < series.spread.size(); i++) {
      values.push_back(series.y[i] - series.spread[i]);
      values.push_back(series.y[i] + series.spread[i]);
    }
  }
  return {plot.y, values};
}

std::vector<std::string> wrap(const std::string& text, int columns) {
  std::vector<std::string> lines(1);
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find_first_of(" \n\t", at), text.size());
    const std::string word = shorten(text.substr(at, end - at), columns);
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (text_columns(line) + 1 + text_columns(word) <= columns) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
    at = end + 1;
  }
  return lines;
}

std::vector<Entry> place_legend(const Plot& plot, int width) {
  std::vector<Entry> legend;
  const auto named =
      std::count_if(plot.series.begin(), plot.series.end(), [](const Series& s) { return !s.name.empty(); });
  if (named == 0) return legend;
  const int most_columns = (width - swatch_width - 6) / character_width;
  int x = 0, row = 0;
  for (const auto& series : plot.series) {
    if (series.name.empty()) continue;
    const std::string name = shorten(clean_text(series.name), most_columns);
    const int entry_width = swatch_width + 6 + text_columns(name) * character_width;
    if (x > 0 && x + entry_width > width) x = 0, row++;
    legend.push_back({&series, style_of(plot, series), name, x, row});
    x += entry_width + 14;
  }
  return legend;
}

int label_width(const std::vector<Tick>& ticks) {
  int columns = 1;
  for (const auto& tick : ticks) columns = std::max(columns, text_columns(tick.label));
  return columns * character_width;
}

Layout lay_out(const Plot& plot, PlotSize size, const AxisMap& x, const AxisMap& y) {
  Layout layout;
  const int inner = size.width - 2 * edge;
  if (!plot.title.empty()) layout.title_lines = wrap(clean_text(plot.title), inner / title_character_width);
  layout.legend = place_legend(plot, inner);
  int top = edge + static_cast<int>(layout.title_lines.size()) * (line_height + 2);
  if (!layout.legend.empty()) top += (layout.legend.back().row + 1) * line_height + 4;
  if (!plot.y.label.empty()) top += line_height + 3;
  top = std::min(top + 9, size.height / 2);  // a long legend must not push the curves out
  const int bottom = size.height - edge - line_height - (plot.x.label.empty() ? 0 : line_height);
  layout.y_ticks = y.ticks(std::max(2, (bottom - top) / 40));
  const int left = std::min(edge + label_width(layout.y_ticks) + 8, size.width / 3);
  layout.frame = {left, top, size.width - edge - 6 - left, bottom - top};
  layout.x_ticks = x.ticks(std::max(2, layout.frame.width / 75));
  return layout;
}

std::string text(const char* classes, double x, double y, std::string_view content) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", classes, x, y,
                     escape_markup(content));
}

std::string line(const char* classes, double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", classes, x1, y1, x2, y2);
}

std::string swatch(const Entry& entry, int x, int y) {
  const bool has_line = entry.series->mark != Mark::Points, has_points = entry.series->mark != Mark::Line;
  std::string svg = fmt::format("<g class=\"{}\">", look(entry.style, entry.series->faint));
  if (has_line) svg += fmt::format("<path class=\"line\" d=\"M{} {}h{}\"/>", x, y, swatch_width);
  if (has_points)
    svg +=
        fmt::format("<path class=\"point\" d=\"M{} {}{}\"/>", x + swatch_width / 2, y, marker(entry.style));
  return svg + "</g>\n";
}

std::string draw_head(const Plot& plot, const Layout& layout) {
  std::string svg;
  int y = edge;
  for (const auto& title : layout.title_lines) svg += text("title", edge, y += line_height + 2, title);
  y += 6;
  for (const auto& entry : layout.legend) {
    const int row = y + entry.row * line_height + line_height / 2;
    svg += swatch(entry, edge + entry.x, row) +
           text("name", edge + entry.x + swatch_width + 6, row + 4, entry.name);
  }
  if (!plot.y.label.empty()) svg += text("label", edge, layout.frame.top - 13, plot.y.label);
  return svg;
}

std::string draw_axes(const Plot& plot, const Layout& layout, const AxisMap& x, const AxisMap& y) {
  const auto& [left, top, width, height] = layout.frame;
  std::string svg;
  for (const auto& tick : layout.y_ticks) {
    const double at = top + height * (1 - y.at(tick.value));
    svg += line(tick.label.empty() ? "minor" : "grid", left, at, left + width, at);
    if (!tick.label.empty()) svg += text("tick y", left - 7, at + 4, tick.label);
  }
  for (const auto& tick : layout.x_ticks) {
    const double at = left + width * x.at(tick.value);
    svg += line(tick.label.empty() ? "minor" : "grid", at, top, at, top + height);
    if (!tick.label.empty()) svg += text("tick x", at, top + height + line_height, tick.label);
  }
  svg += line("axis", left, top + height, left + width, top + height);
  if (!plot.x.label.empty()) {
    svg += text("label x", left + width / 2.0, top + height + 2 * line_height, plot.x.label);
  }
  return svg;
}

// An <svg> of its own clips what lies outside, without an id that could collide on a page. `margin` lets
// strokes and markers on the edge be whole.
std::string clipped(const Frame& frame, int margin, const std::string& content) {
  const int width = frame.width + 2 * margin, height = frame.height + 2 * margin;
  return fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{} {} {} {}\">\n{}</svg>\n",
                     frame.left - margin, frame.top - margin, width, height, -margin, -margin, width, height,
                     content);
}

std::string draw_series(const Plot& plot, const Frame& frame, const AxisMap& x, const AxisMap& y) {
  const Canvas canvas{x, y, frame.width, frame.height};
  std::string lines, markers;
  for (const bool faint : {true, false}) {
    for (const auto& series : plot.series) {
      if (series.faint != faint) continue;
      lines += draw_line_part(series, style_of(plot, series), canvas);
      markers += draw_marker_part(series, style_of(plot, series), canvas);
    }
  }
  if (lines.empty() && markers.empty()) {
    return text("label x", frame.left + frame.width / 2.0, frame.top + frame.height / 2.0, "no data");
  }
  return clipped(frame, 1, lines) + clipped(frame, 6, markers);
}

std::string draw(const Plot& plot, PlotSize size, const std::string& style) {
  check(plot, size);
  const AxisMap x = x_map(plot), y = y_map(plot);
  const Layout layout = lay_out(plot, size, x, y);
  const std::string title = escape_markup(plot.title.empty() ? "plot" : plot.title);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" "
             "role=\"img\" aria-label=\"{2}\">\n",
             size.width, size.height, title) +
         style +
         fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", size.width, size.height) +
         draw_head(plot, layout) + draw_axes(plot, layout, x, y) + draw_series(plot, layout.frame, x, y) +
         "</svg>\n";
}

std::string colour_css(const std::array<const char*, 7>& colours) {
  std::string css;
  for (size_t i = 0; i < colours.size(); i++) css += fmt::format(".plot .c{}{{color:{}}}\n", i, colours[i]);
  return css;
}

}  // namespace

std::string svg_element(const Plot& plot, PlotSize size) { return draw(plot, size, ""); }

std::string svg_file(const Plot& plot, PlotSize size) {
  return draw(plot, size, "<style>\n" + plot_css() + "</style>\n");
}

std::string plot_css() {
  std::string css =
      R"(.plot{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.plot text{fill:#4a5159}
.plot .title{font-size:14px;font-weight:600;fill:#1b1f24}
.plot .tick{font-size:11.5px;font-variant-numeric:tabular-nums}
.plot .y{text-anchor:end}
.plot .x{text-anchor:middle}
.plot .grid,.plot .minor,.plot .axis,.plot .line{fill:none}
.plot .grid{stroke:#e3e6ea}
.plot .minor{stroke:#f2f4f6}
.plot .axis{stroke:#8b939c}
.plot .line{stroke:currentColor;stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round}
.plot .band{fill:currentColor;opacity:.16}
.plot .point{fill:currentColor;stroke-width:1}
.plot .faint .line{opacity:.3;stroke-width:1.1}
.plot .faint .point{opacity:.3}
)";
  for (size_t i = 1; i < dashes.size(); i++)
    css += fmt::format(".plot .d{} .line{{stroke-dasharray:{}}}\n", i, dashes[i]);
  css += ".plot .faint .line{stroke-dasharray:none}\n";
  css += fmt::format(".plot .paper{{fill:{0}}}\n.plot .point{{stroke:{0}}}\n", light_paper) +
         colour_css(light_colours);
  css +=
      "@media (prefers-color-scheme:dark){\n.plot text{fill:#b4bcc6}\n.plot .title{fill:#eef1f5}\n.plot "
      ".grid{stroke:#2b3038}\n"
      ".plot .minor{stroke:#1f2329}\n.plot .axis{stroke:#6b747f}\n";
  css += fmt::format(".plot .paper{{fill:{0}}}\n.plot .point{{stroke:{0}}}\n", dark_paper) +
         colour_css(dark_colours);
  return css + "}\n";
}

}  // namespace onceover
