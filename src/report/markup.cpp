#include "report/markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawn_text.h"

namespace onceover {
namespace {

// "1.30B", "−0.5", "12 %", "3.1 ± 0.2", "1.5 GiB" and "-" are numbers to the eye.
bool looks_numeric(const std::string& cell) {
  if (cell.empty() || cell == "-" || cell == "–") return true;
  const size_t digit = cell.find_first_of("0123456789");
  const auto letters =
      std::count_if(cell.begin(), cell.end(), [](unsigned char c) { return c < 0x80 && std::isalpha(c); });
  return digit != std::string::npos && digit <= 3 && letters <= 4;
}

std::vector<bool> numeric_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> numeric(rows.empty() ? 0 : rows[0].size(), true);
  for (size_t r = 1; r < rows.size(); r++) {
    for (size_t c = 0; c < std::min(numeric.size(), rows[r].size()); c++) {
      if (!looks_numeric(rows[r][c])) numeric[c] = false;
    }
  }
  return numeric;
}

std::string table_row(const std::vector<std::string>& cells, const char* element,
                      const std::vector<bool>& numeric) {
  std::string row = "<tr>";
  for (size_t c = 0; c < cells.size(); c++) {
    const bool number = c < numeric.size() && numeric[c];
    row +=
        fmt::format("<{0}{1}>{2}</{0}>", element, number ? " class=\"number\"" : "", escape_markup(cells[c]));
  }
  return row + "</tr>\n";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows, std::string_view caption) {
  const auto numeric = numeric_columns(rows);
  std::string table = "<table>\n";
  if (!caption.empty()) table += "<caption>" + escape_markup(caption) + "</caption>\n";
  for (size_t r = 0; r < rows.size(); r++) {
    if (r == 0) table += "<thead>\n";
    table += table_row(rows[r], r == 0 ? "th" : "td", numeric);
    if (r == 0) table += "</thead>\n<tbody>\n";
  }
  return table + (rows.empty() ? "" : "</tbody>\n") + "</table>\n";
}

}  // namespace onceover
