// An object or list of untrusted JSON with its place in the file, for errors that say what was expected
// where.
//
// A member that is null counts as absent. The JSON must outlive the reader.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

class JsonReader {
 public:
  JsonReader(const nlohmann::json& json, std::string where) : json_(json), where_(std::move(where)) {}

  const nlohmann::json& json() const { return json_; }
  const std::string& where() const { return where_; }

  bool has(const char* key) const {
    require(json_.is_object(), "an object");
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  JsonReader member(const char* key) const {
    if (!has(key)) throw Error("{}: key '{}' is missing", where_, key);
    return {json_[key], where_ + "." + key};
  }

  std::vector<JsonReader> list() const {
    require(json_.is_array(), "a list");
    std::vector<JsonReader> items;
    for (size_t i = 0; i < json_.size(); i++) items.push_back({json_[i], fmt::format("{}[{}]", where_, i)});
    return items;
  }

  const std::string& text() const {
    require(json_.is_string(), "a text");
    return json_.get_ref<const std::string&>();
  }
  bool flag() const {
    require(json_.is_boolean(), "true or false");
    return json_.get<bool>();
  }
  // A whole number, 0 to `limit`.
  int number(int limit) const {
    require(json_.is_number_unsigned() && json_.get<uint64_t>() <= static_cast<uint64_t>(limit),
            fmt::format("a whole number up to {}", limit));
    return json_.get<int>();
  }

  bool flag(const char* key, bool when_absent) const { return has(key) ? member(key).flag() : when_absent; }
  std::string type() const { return member("type").text(); }

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error("{}: {} is not supported", where_, printable(what));
  }

 private:
  void require(bool met, std::string_view expected) const {
    if (!met) throw Error("{}: expected {}, found {}", where_, expected, printable(json_.dump(), 60));
  }

  const nlohmann::json& json_;
  std::string where_;
};

}  // namespace onceover
