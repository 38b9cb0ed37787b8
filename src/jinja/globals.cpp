#include <algorithm>
#include <array>
#include <ctime>

#include "base/error.h"
#include "jinja/builtins.h"
#include "jinja/format.h"

namespace onceover::jinja {
namespace {

constexpr uint64_t max_range = 100'000;  // as in Jinja's sandbox

int64_t integer_of(const Value& value) {
  const auto integer = as_integer(value);
  if (!integer) throw Error("range needs integers, found {}", type_name(value));
  return *integer;
}

Value range(Run& run, CallArguments& arguments) {
  const std::vector<Value> given = arguments.take_positional();
  arguments.finish();
  if (given.empty() || given.size() > 3) throw Error("range takes 1 to 3 arguments, found {}", given.size());
  const int64_t start = given.size() == 1 ? 0 : integer_of(given[0]);
  const int64_t stop = integer_of(given.size() == 1 ? given[0] : given[1]);
  const int64_t step = given.size() == 3 ? integer_of(given[2]) : 1;
  if (step == 0) throw Error("range: the step must not be zero");
  const auto bits = [](int64_t n) { return static_cast<uint64_t>(n); };
  const bool none = step > 0 ? start >= stop : start <= stop;
  const uint64_t distance = step > 0 ? bits(stop) - bits(start) : bits(start) - bits(stop);
  const uint64_t stride = step > 0 ? bits(step) : uint64_t{0} - bits(step);
  const uint64_t count = none ? 0 : (distance - 1) / stride + 1;
  if (count > max_range) throw Error("range of more than {} numbers", max_range);
  run.spend(count);
  std::vector<Value> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(count); i++) numbers.push_back({start + i * step});
  return list_value(std::move(numbers));
}

Dict members_of(Run& run, CallArguments& arguments) {
  Dict members;
  if (const Value* other = arguments.take("")) {
    if (other->dict() == nullptr)
      throw Error("{} needs a dict, found {}", arguments.callee(), type_name(*other));
    run.spend(8 * other->dict()->entries().size());
    members = *other->dict();
  }
  for (auto& [name, value] : arguments.take_named()) members.set(name, std::move(value));
  arguments.finish();
  return members;
}

Value make_namespace(Run& run, CallArguments& arguments) {
  return run.make_namespace(members_of(run, arguments));
}
Value make_dict(Run& run, CallArguments& arguments) { return dict_value(members_of(run, arguments)); }

Value raise_exception(Run& run, CallArguments& arguments) {
  const Text message = text_of(run, arguments.require("message"));
  arguments.finish();
  throw Error("{}", to_utf8(message));
}

// Python's datetime has no time zone here, and microseconds, which a second's clock has not.
std::string for_strftime(const std::string& format) {
  std::string out;
  for (size_t i = 0; i < format.size(); i++) {
    const std::string_view part = std::string_view(format).substr(i, format[i] == '%' ? 2 : 1);
    if (part == "%f") throw Error("strftime_now: %f is not supported");
    if (part != "%z" && part != "%Z") out += part;
    i += part.size() - 1;
  }
  return out;
}

Value strftime_now(Run& run, CallArguments& arguments) {
  const Value given = arguments.require("format");
  arguments.finish();
  if (given.text() == nullptr) throw Error("strftime_now needs a text, found {}", type_name(given));
  const Text& text = *given.text();
  const std::string format = for_strftime(to_utf8(text));
  constexpr size_t longest = 256;
  if (format.size() > longest) throw Error("strftime_now: a format of more than {} bytes", longest);
  const std::time_t now = run.now();
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 4096> buffer{};
  // -Wformat-nonliteral: the format is the template's, and only a date goes in.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const size_t bytes = std::strftime(buffer.data(), buffer.size(), format.c_str(), &local);
#pragma GCC diagnostic pop
  const bool is_input =
      std::any_of(text.begin(), text.end(), [](char32_t c) { return (c & input_mark) != 0; });
  return text_value(to_text({buffer.data(), bytes}, is_input ? Origin::Input : Origin::Template));
}

constexpr Builtin globals[] = {{"range", range},
                               {"namespace", make_namespace},
                               {"dict", make_dict},
                               {"raise_exception", raise_exception},
                               {"strftime_now", strftime_now}};

}  // namespace

const Builtin* find_global(const std::string& name) {
  const auto found = std::find_if(std::begin(globals), std::end(globals),
                                  [&](const Builtin& one) { return name == one.name; });
  return found == std::end(globals) ? nullptr : found;
}

}  // namespace onceover::jinja
