#include "report/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace onceover {
namespace {

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); i++) {
    if (i > 0) line += ',';
    line += csv_cell(cells[i]);
  }
  return line + "\r\n";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string records_csv(const std::vector<Record>& records) {
  std::vector<std::string> header;
  std::map<std::string, size_t> column;
  for (const auto& record : records) {
    for (const auto& [name, value] : fields(record)) {
      if (column.try_emplace(name, header.size()).second) header.push_back(name);
    }
  }
  std::string csv = csv_line(header);
  for (const auto& record : records) {
    std::vector<std::string> cells(header.size());
    for (const auto& [name, value] : fields(record)) cells[column.at(name)] = csv_number(value);
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace onceover
