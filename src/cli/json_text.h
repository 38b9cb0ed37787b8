// JSON that the program prints.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace onceover {

// Indented, with a line end. A name that is not UTF-8 is shown with replacement characters.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace onceover
