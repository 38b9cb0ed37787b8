#include <algorithm>

#include "base/error.h"
#include "jinja/attribute_path.h"
#include "jinja/filters.h"
#include "jinja/format.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

Value length(Run&, const Value& object, CallArguments& arguments) {
  arguments.finish();
  return {length_of(object)};
}

Value first(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  const auto items = items_of(run, object);
  return items.empty() ? undefined("the first item of an empty sequence") : items.front();
}

Value last(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  const auto items = items_of(run, object);
  return items.empty() ? undefined("the last item of an empty sequence") : items.back();
}

Value list(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  return list_value(items_of(run, object));
}

Value reverse(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  if (const Text* text = object.text()) {
    run.spend_text(text->size());
    return text_value(Text(text->rbegin(), text->rend()));
  }
  auto items = items_of(run, object);
  std::reverse(items.begin(), items.end());
  return list_value(std::move(items));
}

Value join(Run& run, const Value& object, CallArguments& arguments) {
  const Value* between = arguments.take("d");
  const AttributePath path = AttributePath::take(arguments);
  arguments.finish();
  const Text separator = between == nullptr ? Text() : text_of(run, *between);
  Text out;
  bool begun = false;
  for (const Value& one : items_of(run, object)) {
    const Text text = text_of(run, path.of(run, one));
    run.spend_text(separator.size() + text.size());
    Run::check_text(out.size() + separator.size() + text.size());
    if (std::exchange(begun, true)) out += separator;
    out += text;
  }
  return text_value(std::move(out));
}

Value items(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  if (object.is<Undefined>()) return list_value({});
  const Dict* dict = object.dict();
  if (dict == nullptr) throw Error("items needs a dict, found {}", type_name(object));
  run.spend(3 * dict->entries().size());
  std::vector<Value> pairs;
  for (const auto& [key, value] : dict->entries()) pairs.push_back(list_value({key, value}, true));
  return list_value(std::move(pairs));
}

// What is compared: a text without regard to case, unless it matters.
Value sort_key(Run& run, const Value& value, bool case_sensitive) {
  if (value.text() == nullptr || case_sensitive) return value;
  run.spend_text(value.text()->size());
  Text text = *value.text();
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text_value(std::move(text));
}

Value sorted(Run& run, std::vector<std::pair<Value, Value>> keyed, bool reversed) {
  run.spend(20 * keyed.size());
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return reversed ? order(run, b.first, a.first) < 0 : order(run, a.first, b.first) < 0;
  });
  std::vector<Value> out;
  for (auto& [key, value] : keyed) out.push_back(std::move(value));
  return list_value(std::move(out));
}

Value sort(Run& run, const Value& object, CallArguments& arguments) {
  const bool reversed = arguments.flag("reverse", false),
             case_sensitive = arguments.flag("case_sensitive", false);
  const std::vector<AttributePath> paths = AttributePath::take_several(arguments);
  arguments.finish();
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& one : items_of(run, object)) {
    std::vector<Value> keys;
    for (const AttributePath& path : paths) keys.push_back(sort_key(run, path.of(run, one), case_sensitive));
    keyed.emplace_back(list_value(std::move(keys)), one);
  }
  return sorted(run, std::move(keyed), reversed);
}

Value dictsort(Run& run, const Value& object, CallArguments& arguments) {
  const bool case_sensitive = arguments.flag("case_sensitive", false);
  const Text* by = arguments.text("by");
  const bool reversed = arguments.flag("reverse", false);
  arguments.finish();
  if (by != nullptr && !same(*by, U"key") && !same(*by, U"value"))
    throw Error("dictsort: 'by' must be \"key\" or \"value\"");
  const bool by_value = by != nullptr && same(*by, U"value");
  if (object.dict() == nullptr) throw Error("dictsort needs a dict, found {}", type_name(object));
  std::vector<std::pair<Value, Value>> keyed;
  run.spend(3 * object.dict()->entries().size());
  for (const auto& [key, value] : object.dict()->entries())
    keyed.emplace_back(sort_key(run, by_value ? value : key, case_sensitive), list_value({key, value}, true));
  return sorted(run, std::move(keyed), reversed);
}

Value unique(Run& run, const Value& object, CallArguments& arguments) {
  const bool case_sensitive = arguments.flag("case_sensitive", false);
  const AttributePath path = AttributePath::take(arguments);
  arguments.finish();
  Dict seen;
  std::vector<Value> out;
  for (const Value& one : items_of(run, object)) {
    const Value key = sort_key(run, path.of(run, one), case_sensitive);
    if (seen.find(run, key) == nullptr) out.push_back(one);
    seen.set(run, key, {true});
  }
  return list_value(std::move(out));
}

Value extreme(Run& run, const Value& object, CallArguments& arguments, int sign) {
  const bool case_sensitive = arguments.flag("case_sensitive", false);
  const AttributePath path = AttributePath::take(arguments);
  arguments.finish();
  Value best = undefined("the extreme of an empty sequence"), best_key;
  bool found = false;
  for (const Value& one : items_of(run, object)) {
    Value key = sort_key(run, path.of(run, one), case_sensitive);
    if (std::exchange(found, true) && order(run, key, best_key) * sign <= 0) continue;
    best = one;
    best_key = std::move(key);
  }
  return best;
}

Value min(Run& run, const Value& object, CallArguments& arguments) {
  return extreme(run, object, arguments, -1);
}
Value max(Run& run, const Value& object, CallArguments& arguments) {
  return extreme(run, object, arguments, 1);
}

Value sum(Run& run, const Value& object, CallArguments& arguments) {
  const AttributePath path = AttributePath::take(arguments);
  const Value* start = arguments.take("start");
  arguments.finish();
  if (start != nullptr && start->text() != nullptr) throw Error("sum: texts are joined with `join`");
  Value total = start == nullptr ? Value{int64_t{0}} : *start;
  for (const Value& one : items_of(run, object)) total = binary(run, "+", total, path.of(run, one));
  return total;
}

constexpr Filter filters[] = {{"length", length}, {"count", length}, {"first", first},       {"last", last},
                              {"list", list},     {"join", join},    {"reverse", reverse},   {"items", items},
                              {"sort", sort},     {"min", min},      {"dictsort", dictsort}, {"max", max},
                              {"unique", unique}, {"sum", sum}};

}  // namespace

std::span<const Filter> list_filters() { return filters; }

}  // namespace onceover::jinja
