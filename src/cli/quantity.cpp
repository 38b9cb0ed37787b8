#include "cli/quantity.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace onceover {
namespace {

// q8_0 and q4_0 are ggml's blocks: 32 elements and an f16 scale.
const std::vector<Storage> storages = {{"f32", 4, false},
                                       {"f16", 2, false},
                                       {"bf16", 2, false},
                                       {"q8_0", 34.0 / 32, true},
                                       {"q4_0", 18.0 / 32, true}};

// A whole number from 1 to `most`, with a unit of 1024, 1024² or 1024³.
std::optional<int64_t> parse_count(const std::string& text, int64_t most) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  const std::string unit(stop, end);
  const bool kilo = unit == "K" || unit == "k", mega = unit == "M" || unit == "m";
  const bool giga = unit == "G" || unit == "g";
  const int64_t scale = unit.empty() ? 1 : kilo ? 1 << 10 : mega ? 1 << 20 : giga ? 1 << 30 : 0;
  if (problem != std::errc() || scale == 0 || number < 1 || number > most / scale) return {};
  return number * scale;
}

}  // namespace

int64_t parse_tokens(const std::string& text, const std::string& option) {
  const auto count = parse_count(text, int64_t{1} << 30);
  if (!count) {
    throw Error("{} must be a number of tokens from 1 to {}, such as 8192, 8K or 1M, found '{}'", option,
                int64_t{1} << 30, text);
  }
  return *count;
}

int64_t parse_bytes(const std::string& text, const std::string& option) {
  const auto count = parse_count(text, int64_t{1} << 60);
  if (!count)
    throw Error("{} must be a number of bytes from 1 to 2^60, such as 500M or 2G, found '{}'", option, text);
  return *count;
}

const Storage& find_storage(const std::string& name, const std::string& option) {
  const auto found =
      std::find_if(storages.begin(), storages.end(), [&](const Storage& s) { return s.name == name; });
  if (found != storages.end()) return *found;
  throw Error("{} must be one of {}, found '{}'{}", option, fmt::join(storage_names(), ", "), name,
              did_you_mean(name, storage_names()));
}

std::vector<std::string> storage_names() {
  std::vector<std::string> names;
  for (const Storage& storage : storages) names.push_back(storage.name);
  return names;
}

}  // namespace onceover
