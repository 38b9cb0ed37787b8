// What a template computes with: Python's None, bool, int, float, str, list, tuple and dict, Jinja's
// undefined and namespace, loops, and what can be called.
//
// Values are cheap to copy: their contents are shared and, but for a namespace's, never change. Integers are
// 64 bits wide; what overflows is an Error. Lists and dicts nest at most max_depth levels.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/text.h"

namespace onceover::jinja {

class Run;
struct Value;
struct Function;
struct Loop;
struct Namespace;

struct None {};
struct Undefined {
  std::shared_ptr<const std::string> what;  // "'x'", for messages
};

struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;
};

class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  // In the order in which the keys came first.
  const std::vector<Entry>& entries() const { return entries_; }
  const Value* find(Run& run, const Value& key) const;
  const Value* find(std::string_view key) const;
  // Error for a key that Python could not hash, or of a type that is not supported.
  void set(Run& run, Value key, Value value);
  void set(const std::string& key, Value value, Origin origin = Origin::Template);
  int depth() const { return depth_; }

 private:
  void put(std::string name, Value key, Value value);

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> places_;
  int depth_ = 1;
};

using TextPtr = std::shared_ptr<const Text>;
using ListPtr = std::shared_ptr<const List>;
using DictPtr = std::shared_ptr<const Dict>;
using FunctionPtr = std::shared_ptr<const Function>;
using LoopPtr = std::shared_ptr<Loop>;

struct Value {
  static constexpr int max_depth = 64;

  // A namespace belongs to the run that made it, and values to the run.
  std::variant<Undefined, None, bool, int64_t, double, TextPtr, ListPtr, DictPtr, FunctionPtr, LoopPtr,
               Namespace*>
      of = None{};

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(of);
  }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&of);
  }
  const Text* text() const { return is<TextPtr>() ? std::get<TextPtr>(of).get() : nullptr; }
  const List* list() const { return is<ListPtr>() ? std::get<ListPtr>(of).get() : nullptr; }
  const Dict* dict() const { return is<DictPtr>() ? std::get<DictPtr>(of).get() : nullptr; }
};

struct Namespace {
  Dict members;
};

Value undefined(const std::string& what);
Value text_value(Text text);
Value text_value(std::string_view utf8);
// Error where nesting is too deep.
Value list_value(std::vector<Value> items, bool is_tuple = false);
Value dict_value(Dict dict);

// How deep lists and dicts nest in it; a method or a loop is as deep as what it holds.
int depth_of(const Value& value);

// Texts, keys included, are of `origin`. Error for numbers that do not fit and nesting too deep.
Value from_json(const nlohmann::ordered_json& json, Origin origin);

// Python's bool().
bool is_true(const Value& value);
// "str", "dict", …, for messages and as Python names them.
std::string type_name(const Value& value);
bool is_number(const Value& value);  // bool, int, float
double as_double(const Value& number);
// bool or int; nothing else.
std::optional<int64_t> as_integer(const Value& value);

bool equal(Run& run, const Value& a, const Value& b);
// Negative, 0 or positive. Error where Python has no order.
int order(Run& run, const Value& a, const Value& b);

}  // namespace onceover::jinja
