#include "train/settings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <variant>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "train/parse_toml.h"
#include "train/settings_fields.h"

namespace onceover {
namespace {

// A value as given: typed by TOML, or as words of the command line, which have no type yet.
struct Given {
  std::variant<std::string, int64_t, double, bool> value;
  std::string shown;
  bool typed = true;
};

[[noreturn]] void refuse(const std::string& where, const std::string& expected, const Given& given) {
  throw Error("{} must be {}, found {}", where, expected, printable(given.shown));
}

std::string range_text(const SettingRange& r) { return fmt::format("from {} to {}", r.low, r.high); }

void assign(int64_t& out, const Given& given, const SettingRange& range, const std::string& where) {
  const auto* value = std::get_if<int64_t>(&given.value);
  if (!value || static_cast<double>(*value) < range.low || static_cast<double>(*value) > range.high) {
    refuse(where, "an integer " + range_text(range), given);
  }
  out = *value;
}

void assign(double& out, const Given& given, const SettingRange& range, const std::string& where) {
  const auto* real = std::get_if<double>(&given.value);
  const auto* integer = std::get_if<int64_t>(&given.value);
  const double value = real ? *real : integer ? static_cast<double>(*integer) : range.low - 1;
  if (!(value >= range.low && value <= range.high)) refuse(where, "a number " + range_text(range), given);
  out = value;
}

void assign(bool& out, const Given& given, const SettingRange&, const std::string& where) {
  if (!std::holds_alternative<bool>(given.value)) refuse(where, "true or false", given);
  out = std::get<bool>(given.value);
}

void assign(std::string& out, const Given& given, const SettingRange&, const std::string& where) {
  if (given.typed && !std::holds_alternative<std::string>(given.value)) refuse(where, "a string", given);
  out = given.typed ? std::get<std::string>(given.value) : given.shown;
}

template <class E>
requires std::is_enum_v<E>
void assign(E& out, const Given& given, const SettingRange&, const std::string& where) {
  std::vector<std::string> names;
  const auto* text = std::get_if<std::string>(&given.value);
  for (const auto& choice : named_values(out)) {
    names.emplace_back(choice.name);
    if (!text || *text != choice.name) continue;
    out = choice.value;
    return;
  }
  refuse(where, fmt::format("one of {}", fmt::join(names, ", ")), given);
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  const TrainSettings defaults;
  for_train_settings(defaults, [&](const char* section, const char* key, const auto&, const auto&,
                                   const char*) { names.push_back(fmt::format("{}.{}", section, key)); });
  return names;
}

// Where: "file: " or "" before the key's name.
void set(TrainSettings& settings, const std::string& name, const Given& given, const std::string& where) {
  bool found = false;
  for_train_settings(settings, [&](const char* section, const char* key, auto& member,
                                   const SettingRange& range, const char*) {
    if (name != fmt::format("{}.{}", section, key)) return;
    found = true;
    assign(member, given, range, fmt::format("{}{}", where, name));
  });
  if (!found)
    throw Error("{}unknown setting '{}'{}", where, printable(name), did_you_mean(name, known_names()));
}

Given given_in(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return {text->get(), fmt::format("\"{}\"", text->get())};
  if (const auto* integer = node.as_integer()) return {integer->get(), fmt::format("{}", integer->get())};
  if (const auto* real = node.as_floating_point()) return {real->get(), fmt::format("{}", real->get())};
  if (const auto* flag = node.as_boolean()) return {flag->get(), flag->get() ? "true" : "false"};
  throw Error("{} must be a string, a number, true or false", where);
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Given given_as_words(std::string_view text) {
  Given given{std::string(text), std::string(text), false};
  if (text == "true" || text == "false") given.value = text == "true";
  if (const auto real = whole_number<double>(text)) given.value = *real;
  if (const auto integer = whole_number<int64_t>(text)) given.value = *integer;
  return given;
}

}  // namespace

TrainSettings train_settings_from_toml(std::string_view text, const std::string& where) {
  TrainSettings settings;
  for (const auto& [section, node] : parse_toml(text, where)) {
    const std::string name(section.str());
    const auto* table = node.as_table();
    if (!table) throw Error("{}: '{}' stands outside a section, as [run] is one", where, printable(name));
    for (const auto& [key, value] : *table) {
      const std::string full = name + "." + std::string(key.str());
      set(settings, full, given_in(value, fmt::format("{}: {}", where, printable(full))), where + ": ");
    }
    if (table->empty()) {
      const auto names = known_names();
      const bool known =
          std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.starts_with(name + "."); });
      if (!known) throw Error("{}: unknown section '{}'", where, printable(name));
    }
  }
  return settings;
}

void override_setting(TrainSettings& settings, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw Error("expected --section.key=value, found '--{}'", printable(assignment));
  }
  set(settings, std::string(assignment.substr(0, equals)), given_as_words(assignment.substr(equals + 1)),
      "command line: ");
}

}  // namespace onceover
