#include "jinja/methods.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "jinja/loop.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

Value get(Run& run, const Value& object, CallArguments& arguments) {
  const Value& key = arguments.require("key");
  const Value* other = arguments.take("default");
  arguments.finish();
  const Value* found = object.dict()->find(run, key);
  if (found != nullptr) return *found;
  return other == nullptr ? Value{None{}} : *other;
}

Value keys(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  return list_value(items_of(run, object));
}

Value values(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  run.spend(object.dict()->entries().size());
  std::vector<Value> all;
  for (const auto& [key, value] : object.dict()->entries()) all.push_back(value);
  return list_value(std::move(all));
}

Value entries(Run& run, const Value& object, CallArguments& arguments) {
  return find_filter("items")->apply(run, object, arguments);
}

Value copy(Run&, const Value& object, CallArguments& arguments) {
  arguments.finish();
  return object;
}

Value count(Run& run, const Value& object, CallArguments& arguments) {
  const Value one = arguments.require("value");
  arguments.finish();
  const auto& items = object.list()->items;
  return {static_cast<int64_t>(
      std::count_if(items.begin(), items.end(), [&](const Value& item) { return equal(run, item, one); }))};
}

Value index(Run& run, const Value& object, CallArguments& arguments) {
  const Value one = arguments.require("value");
  arguments.finish();
  const auto& items = object.list()->items;
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Value& item) { return equal(run, item, one); });
  if (found == items.end()) throw Error("index: the value is not in the list");
  return {static_cast<int64_t>(found - items.begin())};
}

Value cycle(Run&, const Value& object, CallArguments& arguments) {
  const std::vector<Value> all = arguments.take_positional();
  arguments.finish();
  if (all.empty()) throw Error("loop.cycle needs values");
  return all[(*object.as<LoopPtr>())->at % all.size()];
}

Value changed(Run& run, const Value& object, CallArguments& arguments) {
  std::vector<Value> all = arguments.take_positional();
  arguments.finish();
  Loop& loop = **object.as<LoopPtr>();
  const auto alike = [&](const Value& a, const Value& b) { return equal(run, a, b); };
  const bool differs =
      !loop.watches || !std::equal(all.begin(), all.end(), loop.watched.begin(), loop.watched.end(), alike);
  loop.watches = true;
  loop.watched = std::move(all);
  return {differs};
}

constexpr Method dict_methods[] = {{"get", get},          {"keys", keys},         {"values", values},
                                   {"items", entries},    {"copy", copy},         {"clear", nullptr},
                                   {"pop", nullptr},      {"popitem", nullptr},   {"update", nullptr},
                                   {"fromkeys", nullptr}, {"setdefault", nullptr}};
constexpr Method list_methods[] = {{"count", count},    {"index", index},    {"copy", copy},
                                   {"append", nullptr}, {"extend", nullptr}, {"insert", nullptr},
                                   {"pop", nullptr},    {"remove", nullptr}, {"reverse", nullptr},
                                   {"sort", nullptr},   {"clear", nullptr}};
constexpr Method tuple_methods[] = {{"count", count}, {"index", index}};
constexpr Method loop_methods[] = {{"cycle", cycle}, {"changed", changed}};

const Method* find_method(const Value& object, const std::string& name) {
  const auto all = object.text() != nullptr ? text_methods() : collection_methods(object);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Method& one) { return name == one.name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Method> collection_methods(const Value& object) {
  if (object.dict() != nullptr) return dict_methods;
  if (object.is<LoopPtr>()) return loop_methods;
  if (object.list() == nullptr) return {};
  return object.list()->is_tuple ? std::span<const Method>(tuple_methods) : list_methods;
}

bool has_method(const Value& object, const std::string& name) { return find_method(object, name) != nullptr; }

Value call_method(Run& run, const Value& object, const std::string& name, CallArguments& arguments) {
  const Method* method = find_method(object, name);
  if (method == nullptr || method->call == nullptr)
    throw Error("method '{}' of a {} is not supported", printable(name), type_name(object));
  return method->call(run, object, arguments);
}

}  // namespace onceover::jinja
