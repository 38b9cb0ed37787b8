// Tables for people and for programs.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onceover {

// Cells are JSON strings or numbers; every row has a cell for each column.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
};

// `format`: "text", "md", "csv" (RFC 4180, no titles, the columns once) or "json" (a list of tables, each row
// an object).
std::string format_tables(const std::vector<Table>& tables, const std::string& format);

}  // namespace onceover
