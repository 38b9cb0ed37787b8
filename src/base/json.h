// JSON from untrusted sources.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace onceover {

// Parses `text`. Refuses (Error, naming `where` and the position) malformed JSON, invalid UTF-8, a key that
// occurs twice in one object, and nesting deeper than 64 levels. Memory is bounded by a small multiple of the
// text.
nlohmann::json parse_json(std::string_view text, const std::string& where);

}  // namespace onceover
