#include "cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/json_text.h"
#include "report/csv.h"

namespace onceover {
namespace {

using Cells = std::vector<std::string>;

std::string plain(const nlohmann::ordered_json& cell) {
  return cell.is_string() ? cell.get<std::string>() : cell.dump();
}

Cells plain(const std::vector<nlohmann::ordered_json>& row) {
  Cells cells;
  for (const auto& cell : row) cells.push_back(plain(cell));
  return cells;
}

std::string text(const Table& table) {
  std::vector<Cells> rows = {table.columns};
  for (const auto& row : table.rows) rows.push_back(plain(row));
  return table.title + "\n" + format_table(rows);
}

std::string markdown(const Table& table) {
  const auto line = [](const Cells& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); };
  std::string out = table.title + ":\n\n" + line(table.columns) + line(Cells(table.columns.size(), "---"));
  for (const auto& row : table.rows) out += line(plain(row));
  return out;
}

std::string csv(const std::vector<Table>& tables) {
  std::string out = csv_line(tables.front().columns);
  for (const Table& table : tables) {
    for (const auto& row : table.rows) out += csv_line(plain(row));
  }
  return out;
}

std::string json(const std::vector<Table>& tables) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Table& table : tables) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json object;
      for (size_t c = 0; c < row.size(); c++) object[table.columns[c]] = row[c];
      rows.push_back(object);
    }
    out.push_back({{"title", table.title}, {"rows", rows}});
  }
  return json_text(out);
}

}  // namespace

std::string format_tables(const std::vector<Table>& tables, const std::string& format) {
  if (format == "csv") return csv(tables);
  if (format == "json") return json(tables);
  std::string out;
  for (const Table& table : tables) {
    if (!out.empty()) out += "\n";
    out += format == "md" ? markdown(table) : text(table);
  }
  return out;
}

}  // namespace onceover
