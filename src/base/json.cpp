#include "base/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/sniff.h"

namespace onceover {
namespace {

constexpr int max_depth = 64;

// Watches a parse and throws on what nlohmann::json accepts silently: repeated keys and unbounded nesting.
class Guard {
 public:
  explicit Guard(const std::string& where) : where_(where) {}

  void operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > max_depth) throw Error("{}: JSON is nested deeper than {} levels", where_, max_depth);
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event != Event::key) return;
    if (!keys_.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Error("{}: key '{}' occurs twice in one JSON object", where_,
                  printable(parsed.get_ref<const std::string&>()));
    }
  }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> keys_;
};

// What the text is instead, where it does not begin as JSON.
[[noreturn]] void refuse(std::string_view text, const std::string& where, const std::string& reason) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '['))
    throw Error("{}: expected JSON, found {}", where,
                describe_bytes(std::as_bytes(std::span(text.data(), text.size()))));
  throw Error("{}: not valid JSON: {}", where, reason);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  // nlohmann::json takes a NUL byte for the end of the text and ignores what follows it.
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) refuse(text, where, fmt::format("NUL at byte {}", nul));
  Guard guard(where);
  try {
    return nlohmann::json::parse(text,
                                 [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
                                   guard(depth, event, parsed);
                                   return true;
                                 });
  } catch (const nlohmann::json::exception& e) {
    refuse(text, where, printable(e.what(), 300));
  }
}

}  // namespace onceover
