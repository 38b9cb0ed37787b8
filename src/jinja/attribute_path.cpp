#include "jinja/attribute_path.h"

#include <algorithm>

#include "base/error.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

Value step_of(TextView word) {
  const bool number =
      !word.empty() && word.size() <= 9 &&
      std::all_of(word.begin(), word.end(), [](char32_t c) { return plain(c) >= '0' && plain(c) <= '9'; });
  if (number) return {int64_t{std::stoll(to_utf8(word))}};
  return text_value(Text(word));
}

}  // namespace

AttributePath::AttributePath(const Value& path) {
  if (as_integer(path)) {
    steps_.push_back(path);
  } else if (const Text* text = path.text()) {
    size_t from = 0;
    for (size_t dot; (dot = find(*text, U".", from)) != nowhere; from = dot + 1)
      steps_.push_back(step_of(TextView(*text).substr(from, dot - from)));
    steps_.push_back(step_of(TextView(*text).substr(from)));
  } else {
    throw Error("an attribute must be a text or an integer, found {}", type_name(path));
  }
}

AttributePath AttributePath::take(CallArguments& arguments) {
  const Value* path = arguments.take("attribute");
  return path == nullptr || path->is<None>() ? AttributePath() : AttributePath(*path);
}

std::vector<AttributePath> AttributePath::take_several(CallArguments& arguments) {
  const Value* given = arguments.take("attribute");
  if (given == nullptr || given->is<None>()) return {AttributePath()};
  if (given->text() == nullptr) return {AttributePath(*given)};
  std::vector<AttributePath> paths;
  TextView rest = *given->text();
  for (size_t comma; (comma = find(rest, U",")) != nowhere; rest.remove_prefix(comma + 1))
    paths.emplace_back(text_value(Text(rest.substr(0, comma))));
  paths.emplace_back(text_value(Text(rest)));
  return paths;
}

Value AttributePath::of(Run& run, Value value, const Value* when_absent) const {
  for (const Value& step : steps_) {
    value = item(run, value, step);
    if (when_absent != nullptr && value.is<Undefined>()) value = *when_absent;
  }
  return value;
}

}  // namespace onceover::jinja
