// Text inside HTML and SVG.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

// Safe as element text and as a quoted attribute value: & < > " ' are escaped, the rest is clean_text()
// (drawn_text.h).
std::string escape_markup(std::string_view text);

// A <table>: the first row is the header. A column whose cells all look like numbers is right-aligned. Every
// cell is escaped. `caption` may be empty. Takes what format_table (base/text.h) takes.
std::string html_table(const std::vector<std::vector<std::string>>& rows, std::string_view caption = {});

}  // namespace onceover
