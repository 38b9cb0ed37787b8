// Python's own Jinja, where it is installed.
#pragma once
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "jinja/template.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {

using OrderedJson = nlohmann::ordered_json;

// What strftime_now() tells, here and in oracle.py.
inline std::time_t test_time() {
  std::tm time{};
  time.tm_year = 126, time.tm_mon = 2, time.tm_mday = 5, time.tm_hour = 17, time.tm_min = 4, time.tm_sec = 9;
  time.tm_isdst = -1;
  return std::mktime(&time);
}

inline jinja::Rendered render(const std::string& source, const OrderedJson& context = OrderedJson::object()) {
  const jinja::Value variables = jinja::from_json(context, jinja::Origin::Input);
  return jinja::Template(source, "template").render(*variables.dict(), {.now = test_time()});
}

// {"text": …} or {"error": …} for each of `cases`; none where no Python has jinja2.
inline std::optional<OrderedJson> oracle_results(const OrderedJson& cases) {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (std::system((python + " -c 'import jinja2' 2>/dev/null").c_str()) != 0) continue;
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "cases.json") << cases.dump();
    const auto script = test::source_folder() / "tests/jinja/oracle.py";
    const auto out = folder.path() / "out.json";
    const std::string command = python + " '" + script.string() + "' '" +
                                (folder.path() / "cases.json").string() + "' > '" + out.string() + "'";
    if (std::system(command.c_str()) != 0) return std::nullopt;
    return OrderedJson::parse(std::ifstream(out));
  }
  return std::nullopt;
}

// Ours, in the same form.
inline OrderedJson our_result(const std::string& source, const OrderedJson& context) {
  try {
    return {{"text", render(source, context).text}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace onceover
