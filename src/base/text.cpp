#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace onceover {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replace});
    }
  }
  return row[b.size()];
}

std::string with_unit(double value, double step, const std::array<const char*, 6>& units, int decimals) {
  size_t unit = 0;
  while (unit + 1 < units.size() && value >= step) value /= step, unit++;
  return fmt::format("{:.{}f}{}", value, unit == 0 ? 0 : decimals, units[unit]);
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t longest = 64;  // a hostile key must not buy a quadratic table
  if (word.size() > longest) return "";
  std::string best;
  size_t best_distance = word.size() / 3 + 1;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance ||
        (distance == best_distance && best.empty() && distance <= word.size() / 3)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string name = nearest_name(word, candidates);
  return name.empty() ? "" : fmt::format(", did you mean '{}'?", name);
}

std::string format_bytes(double bytes) {
  return with_unit(bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB", " PiB"}, 1);
}

std::string format_count(double count) { return with_unit(count, 1000, {"", "K", "M", "B", "T", "P"}, 2); }

std::string format_flops(double flops) {
  return with_unit(flops, 1000, {" FLOP", " KFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP"}, 2);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); c++) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); c++) {
      line += c == 0 ? fmt::format("{:<{}}", row[c], widths[c]) : fmt::format("  {:>{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace onceover
