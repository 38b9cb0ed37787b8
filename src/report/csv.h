// Comma-separated values after RFC 4180: CRLF ends a line; a cell with a comma, a quote, CR or LF is quoted,
// quotes doubled.
#pragma once
#include <string>
#include <vector>

namespace onceover {

std::string csv_line(const std::vector<std::string>& cells);

// The shortest decimal that reads back as the same double; empty when not finite.
std::string csv_number(double value);

}  // namespace onceover
