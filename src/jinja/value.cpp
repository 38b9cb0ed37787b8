#include "jinja/value.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "jinja/function.h"
#include "jinja/loop.h"
#include "jinja/run.h"

namespace onceover::jinja {
namespace {

int deeper(int depth, const Value& value) {
  depth = std::max(depth, depth_of(value) + 1);
  if (depth > Value::max_depth) throw Error("values are nested deeper than {} levels", Value::max_depth);
  return depth;
}

bool is_whole(double number) { return std::abs(number) < 0x1p63 && std::trunc(number) == number; }

// Equal for keys that are: Python's 1, 1.0 and True are one key.
std::string key_of(const Value& key) {
  if (const Text* text = key.text()) return std::string("s").append(to_utf8(*text));
  if (const auto integer = as_integer(key)) return fmt::format("n{}", *integer);
  if (const double* number = key.as<double>())
    return is_whole(*number) ? fmt::format("n{}", static_cast<int64_t>(*number))
                             : fmt::format("n{}", *number);
  if (key.is<None>()) return "none";
  if (key.is<Undefined>()) return "undefined";
  throw Error("a value of type {} cannot be a key", type_name(key));
}

bool equal_texts(Run& run, const Text& a, const Text& b) {
  if (a.size() != b.size()) return false;
  run.spend_text(a.size());
  return same(a, b);
}

bool equal_lists(Run& run, const List& a, const List& b) {
  const auto equal_items = [&](const Value& x, const Value& y) { return equal(run, x, y); };
  return a.is_tuple == b.is_tuple &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal_items);
}

bool equal_dicts(Run& run, const Dict& a, const Dict& b) {
  return a.entries().size() == b.entries().size() &&
         std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
           const Value* other = b.find(run, entry.first);
           return other != nullptr && equal(run, entry.second, *other);
         });
}

// Holds every integer and every double.
long double exactly(const Value& number) {
  const auto integer = as_integer(number);
  return integer ? static_cast<long double>(*integer) : as_double(number);
}

template <class T>
int order_of(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int order_lists(Run& run, const List& a, const List& b) {
  for (size_t i = 0; i < std::min(a.items.size(), b.items.size()); i++) {
    if (!equal(run, a.items[i], b.items[i])) return order(run, a.items[i], b.items[i]);
  }
  return order_of(a.items.size(), b.items.size());
}

Value number_from_json(const nlohmann::ordered_json& json) {
  if (json.is_number_float()) return {json.get<double>()};
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)
    throw Error("the number {} is beyond 64 bits", json.dump());
  return {json.get<int64_t>()};
}

// `levels` more may nest.
Value nested_from_json(const nlohmann::ordered_json& json, Origin origin, int levels) {
  if (json.is_null()) return {None{}};
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number()) return number_from_json(json);
  if (json.is_string()) return text_value(to_text(json.get_ref<const std::string&>(), origin));
  if (!json.is_structured()) throw Error("JSON of type {} cannot be used in a template", json.type_name());
  if (levels == 0) throw Error("values are nested deeper than {} levels", Value::max_depth);
  if (json.is_array()) {
    std::vector<Value> items;
    for (const auto& item : json) items.push_back(nested_from_json(item, origin, levels - 1));
    return list_value(std::move(items));
  }
  Dict dict;
  for (const auto& [key, item] : json.items())
    dict.set(key, nested_from_json(item, origin, levels - 1), origin);
  return dict_value(std::move(dict));
}

}  // namespace

int depth_of(const Value& value) {
  if (const List* list = value.list()) return list->depth;
  if (const Dict* dict = value.dict()) return dict->depth();
  if (const LoopPtr* loop = value.as<LoopPtr>()) return (*loop)->depth;
  const FunctionPtr* function = value.as<FunctionPtr>();
  const auto* method = function == nullptr ? nullptr : std::get_if<BoundMethod>(&(*function)->of);
  return method == nullptr ? 0 : depth_of(method->object);
}

const Value* Dict::find(Run& run, const Value& key) const {
  if (key.text() != nullptr) run.spend_text(key.text()->size());
  const auto place = places_.find(key_of(key));
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

const Value* Dict::find(std::string_view key) const {
  const auto place = places_.find(std::string("s").append(key));
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

void Dict::set(Run& run, Value key, Value value) {
  run.spend(1);
  if (key.text() != nullptr) run.spend_text(key.text()->size());
  std::string name = key_of(key);
  put(std::move(name), std::move(key), std::move(value));
}

void Dict::set(const std::string& key, Value value, Origin origin) {
  put(std::string("s").append(key), text_value(to_text(key, origin)), std::move(value));
}

void Dict::put(std::string name, Value key, Value value) {
  depth_ = deeper(depth_, value);
  const auto [place, is_new] = places_.emplace(std::move(name), entries_.size());
  if (is_new) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

Value undefined(const std::string& what) { return {Undefined{std::make_shared<const std::string>(what)}}; }
Value text_value(Text text) { return {std::make_shared<const Text>(std::move(text))}; }
Value text_value(std::string_view utf8) { return text_value(to_text(utf8)); }
Value dict_value(Dict dict) { return {std::make_shared<const Dict>(std::move(dict))}; }

Value list_value(std::vector<Value> items, bool is_tuple) {
  List list{std::move(items), is_tuple};
  for (const Value& item : list.items) list.depth = deeper(list.depth, item);
  return {std::make_shared<const List>(std::move(list))};
}

Value from_json(const nlohmann::ordered_json& json, Origin origin) {
  return nested_from_json(json, origin, Value::max_depth);
}

bool is_true(const Value& value) {
  if (const bool* flag = value.as<bool>()) return *flag;
  if (const int64_t* integer = value.as<int64_t>()) return *integer != 0;
  if (const double* number = value.as<double>()) return *number != 0;
  if (const Text* text = value.text()) return !text->empty();
  if (const List* list = value.list()) return !list->items.empty();
  if (const Dict* dict = value.dict()) return !dict->entries().empty();
  return !value.is<None>() && !value.is<Undefined>();
}

std::string type_name(const Value& value) {
  constexpr std::array names{"Undefined", "None", "bool",     "int",  "float",    "str",
                             "list",      "dict", "function", "loop", "namespace"};
  if (value.list() != nullptr && value.list()->is_tuple) return "tuple";
  return names[value.of.index()];
}

std::optional<int64_t> as_integer(const Value& value) {
  if (const bool* flag = value.as<bool>()) return *flag ? 1 : 0;
  if (const int64_t* integer = value.as<int64_t>()) return *integer;
  return std::nullopt;
}

bool is_number(const Value& value) { return as_integer(value).has_value() || value.is<double>(); }

double as_double(const Value& number) {
  const double* found = number.as<double>();
  return found != nullptr ? *found : static_cast<double>(as_integer(number).value());
}

bool equal(Run& run, const Value& a, const Value& b) {
  run.spend(1);
  const auto x = as_integer(a), y = as_integer(b);
  if (x && y) return *x == *y;
  if (is_number(a) && is_number(b)) return exactly(a) == exactly(b);
  if (a.of.index() != b.of.index()) return false;
  if (const Text* text = a.text()) return text == b.text() || equal_texts(run, *text, *b.text());
  if (const List* list = a.list()) return equal_lists(run, *list, *b.list());
  if (const Dict* dict = a.dict()) return equal_dicts(run, *dict, *b.dict());
  if (const FunctionPtr* function = a.as<FunctionPtr>()) return *function == *b.as<FunctionPtr>();
  if (const LoopPtr* loop = a.as<LoopPtr>()) return *loop == *b.as<LoopPtr>();
  if (a.is<Namespace*>()) return *a.as<Namespace*>() == *b.as<Namespace*>();
  return true;
}

int order(Run& run, const Value& a, const Value& b) {
  run.spend(1);
  const auto x = as_integer(a), y = as_integer(b);
  if (x && y) return order_of(*x, *y);
  if (is_number(a) && is_number(b)) return order_of(exactly(a), exactly(b));
  if (a.text() != nullptr && b.text() != nullptr) {
    run.spend_text(std::min(a.text()->size(), b.text()->size()));
    return compare(*a.text(), *b.text());
  }
  if (a.list() != nullptr && b.list() != nullptr && a.list()->is_tuple == b.list()->is_tuple)
    return order_lists(run, *a.list(), *b.list());
  throw Error("values of the types {} and {} have no order", type_name(a), type_name(b));
}

}  // namespace onceover::jinja
