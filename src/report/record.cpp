#include "report/record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/drawn_text.h"

namespace onceover {
namespace {

template <class Value, class Owner>
struct Field {
  const char* name;
  Value Owner::*member;
};

constexpr std::array<Field<int64_t, Record>, 3> counts{
    {{"step", &Record::step}, {"tokens", &Record::tokens}, {"memory_bytes", &Record::memory_bytes}}};
constexpr std::array<Field<double, Record>, 7> measures{{{"flops", &Record::flops},
                                                         {"wall_seconds", &Record::wall_seconds},
                                                         {"loss", &Record::loss},
                                                         {"learning_rate", &Record::learning_rate},
                                                         {"grad_norm", &Record::grad_norm},
                                                         {"tokens_per_second", &Record::tokens_per_second},
                                                         {"mfu", &Record::mfu}}};
constexpr std::array<Field<double, Validation>, 2> validations{
    {{"validation_loss", &Validation::loss}, {"bits_per_byte", &Validation::bits_per_byte}}};

bool is_field(const std::string& name) {
  const auto has = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& field) { return name == field.name; });
  };
  return has(counts) || has(measures) || has(validations);
}

const nlohmann::json& at(const nlohmann::json& json, const char* name, const std::string& where) {
  const auto found = json.find(name);
  if (found == json.end()) throw Error("{}: expected the key '{}', found none", where, name);
  return *found;
}

int64_t count_of(const nlohmann::json& value, const std::string& name, const std::string& where) {
  constexpr auto largest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_unsigned() || value.get<uint64_t>() > largest) {
    throw Error("{}: expected a whole number of 0 or more at '{}', found {}", where, name, value.type_name());
  }
  return value.get<int64_t>();
}

double measure_of(const nlohmann::json& value, const std::string& name, const std::string& where) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number())
    throw Error("{}: expected a number or null at '{}', found {}", where, name, value.type_name());
  return value.get<double>();
}

}  // namespace

std::vector<std::pair<std::string, double>> fields(const Record& record) {
  std::vector<std::pair<std::string, double>> list;
  for (const auto& field : counts) list.emplace_back(field.name, static_cast<double>(record.*field.member));
  for (const auto& field : measures) list.emplace_back(field.name, record.*field.member);
  if (record.validation) {
    for (const auto& field : validations) list.emplace_back(field.name, (*record.validation).*field.member);
  }
  for (const auto& [name, value] : record.extra) list.emplace_back(name, value);
  return list;
}

nlohmann::ordered_json to_json(const Record& record) {
  for (const auto& [name, value] : record.extra) {
    if (is_field(clean_text(name)))
      throw Error("step {}: '{}' is a field of every record, not a name for an extra value", record.step,
                  name);
  }
  nlohmann::ordered_json json;
  for (const auto& [name, value] : fields(record)) {
    json[clean_text(name)] =
        std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
  for (const auto& field : counts) {
    if (record.*field.member < 0) throw Error("step {}: '{}' is below 0", record.step, field.name);
    json[field.name] = record.*field.member;  // exact beyond 2^53
  }
  return json;
}

Record record_from_json(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object()) throw Error("{}: expected a JSON object, found {}", where, json.type_name());
  Record record;
  for (const auto& field : counts)
    record.*field.member = count_of(at(json, field.name, where), field.name, where);
  for (const auto& field : measures)
    record.*field.member = measure_of(at(json, field.name, where), field.name, where);
  const auto measured = [&](const auto& field) { return json.contains(field.name); };
  if (std::any_of(validations.begin(), validations.end(), measured)) {
    record.validation.emplace();
    for (const auto& field : validations) {
      (*record.validation).*field.member = measure_of(at(json, field.name, where), field.name, where);
    }
  }
  for (const auto& [name, value] : json.items()) {
    if (!is_field(name)) record.extra[name] = measure_of(value, name, where);
  }
  return record;
}

}  // namespace onceover
