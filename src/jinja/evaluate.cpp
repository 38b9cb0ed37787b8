#include <algorithm>

#include "base/printable.h"
#include "jinja/format.h"
#include "jinja/located.h"
#include "jinja/machine.h"
#include "jinja/operators.h"

namespace onceover::jinja {

Value Machine::evaluate(const Expression& expression) {
  try {
    const Nesting nesting(*this);
    run_.spend(1);
    return std::visit([&](const auto& node) { return value(node); }, expression.of);
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    throw_at(where_, expression.at, error.what());
  }
}

Value Machine::evaluate_or_none(const ExpressionPtr& expression) {
  return expression == nullptr ? Value{None{}} : evaluate(*expression);
}

Value Machine::value(const Name& node) {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->outer.get()) {
    run_.spend(1);
    const auto found = scope->names.find(node.name);
    if (found != scope->names.end()) return found->second;
  }
  const Builtin* builtin = find_global(node.name);
  if (builtin != nullptr) return {std::make_shared<const Function>(Function{builtin})};
  return undefined(fmt::format("'{}'", printable(node.name)));
}

Value Machine::value(const ListLiteral& node) {
  std::vector<Value> items;
  for (const auto& item : node.items) items.push_back(evaluate(*item));
  return list_value(std::move(items), node.is_tuple);
}

Value Machine::value(const DictLiteral& node) {
  Dict dict;
  for (const auto& [key, item] : node.entries) {
    Value name = evaluate(*key);
    dict.set(run_, std::move(name), evaluate(*item));
  }
  return dict_value(std::move(dict));
}

Value Machine::value(const Unary& node) {
  const Value operand = evaluate(*node.operand);
  if (node.op == '!') return {!is_true(operand)};
  if (node.op == '-') return negative(operand);
  return negative(negative(operand));
}

Value Machine::value(const Binary& node) {
  const Value left = evaluate(*node.left);
  return binary(run_, node.op, left, evaluate(*node.right));
}

Value Machine::value(const Logic& node) {
  Value left = evaluate(*node.left);
  return is_true(left) == node.is_and ? evaluate(*node.right) : left;
}

bool Machine::holds(const std::string& op, const Value& left, const Value& right) {
  if (op == "in") return contains(run_, right, left);
  if (op == "not in") return !contains(run_, right, left);
  if (op == "==") return equal(run_, left, right);
  if (op == "!=") return !equal(run_, left, right);
  require_defined(left);
  require_defined(right);
  const int sign = order(run_, left, right);
  return op == "<" ? sign < 0 : op == "<=" ? sign <= 0 : op == ">" ? sign > 0 : sign >= 0;
}

Value Machine::value(const Comparison& node) {
  Value left = evaluate(*node.first);
  for (const auto& part : node.rest) {
    Value right = evaluate(*part.operand);
    if (!holds(part.op, left, right)) return {false};
    left = std::move(right);
  }
  return {true};
}

Value Machine::value(const Conditional& node) {
  if (is_true(evaluate(*node.condition))) return evaluate(*node.then);
  if (node.otherwise == nullptr) return undefined("the value of an if without else");
  return evaluate(*node.otherwise);
}

Value Machine::value(const Attribute& node) { return attribute(run_, evaluate(*node.object), node.name); }

Value Machine::value(const Item& node) {
  const Value object = evaluate(*node.object);
  return item(run_, object, evaluate(*node.index));
}

Value Machine::value(const Slice& node) {
  const Value object = evaluate(*node.object);
  const Value start = evaluate_or_none(node.start), stop = evaluate_or_none(node.stop);
  return slice(run_, object, start, stop, evaluate_or_none(node.step));
}

CallArguments Machine::arguments_of(const std::string& callee, const Arguments& arguments) {
  std::vector<Value> positional;
  for (const auto& one : arguments.positional) positional.push_back(evaluate(*one));
  std::vector<CallArguments::Named> named;
  for (const auto& [name, one] : arguments.named) named.emplace_back(name, evaluate(*one));
  return {callee, std::move(positional), std::move(named)};
}

Value Machine::value(const FilterCall& node) {
  const Value object = node.object == nullptr ? filtered_ : evaluate(*node.object);
  CallArguments arguments = arguments_of(node.filter->name, node.arguments);
  return node.filter->apply(run_, object, arguments);
}

Value Machine::value(const TestCall& node) {
  const Value object = evaluate(*node.object);
  CallArguments arguments = arguments_of(node.test->name, node.arguments);
  return {node.test->holds(run_, object, arguments) != node.negated};
}

}  // namespace onceover::jinja
