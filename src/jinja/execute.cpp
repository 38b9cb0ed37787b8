#include <algorithm>

#include "base/printable.h"
#include "jinja/format.h"
#include "jinja/located.h"
#include "jinja/machine.h"
#include "jinja/operators.h"

namespace onceover::jinja {

Machine::Machine(Run& run, const Dict& variables, const std::string& where)
    : run_(run), where_(where), scope_(std::make_shared<Scope>()) {
  for (const auto& [key, value] : variables.entries()) {
    if (key.text() != nullptr) scope_->names.insert_or_assign(to_utf8(*key.text()), value);
  }
}

Text Machine::write(const Block& block) {
  const Value text = captured(block);
  return *text.text();
}

void Machine::append(TextView text) {
  run_.spend_text(text.size());
  Run::check_text(out_->size() + text.size());
  *out_ += text;
}

Value Machine::captured(const Block& block) {
  Text text;
  Text* before = std::exchange(out_, &text);
  try {
    execute(block);
  } catch (...) {
    out_ = before;
    throw;
  }
  out_ = before;
  return text_value(std::move(text));
}

Machine::Flow Machine::execute(const Block& block) {
  for (const Statement& statement : block) {
    const Flow flow = execute(statement);
    if (flow != Flow::On) return flow;
  }
  return Flow::On;
}

Machine::Flow Machine::execute(const Statement& statement) {
  try {
    const Nesting nesting(*this);
    run_.spend(1);
    return std::visit([&](const auto& node) { return run(node); }, statement.of);
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    throw_at(where_, statement.at, error.what());
  }
}

Machine::Flow Machine::run(const Data& node) {
  append(node.text);
  return Flow::On;
}

Machine::Flow Machine::run(const Output& node) {
  append(text_of(run_, evaluate(*node.value)));
  return Flow::On;
}

Machine::Flow Machine::run(const If& node) {
  for (const auto& branch : node.branches) {
    if (branch.condition == nullptr || is_true(evaluate(*branch.condition))) return execute(branch.body);
  }
  return Flow::On;
}

std::vector<Value> Machine::chosen_items(const For& node) {
  std::vector<Value> items = items_of(run_, evaluate(*node.items));
  if (node.condition == nullptr) return items;
  const Inner inner(*this);
  std::erase_if(items, [&](const Value& item) {
    assign(node.target, item);
    return !is_true(evaluate(*node.condition));
  });
  return items;
}

Machine::Flow Machine::run(const For& node) {
  const auto loop = std::make_shared<Loop>();
  loop->items = chosen_items(node);
  for (const Value& item : loop->items) loop->depth = std::max(loop->depth, depth_of(item) + 1);
  // What changed() keeps may hold the loop itself.
  const std::shared_ptr<void> finally(nullptr, [&](void*) { loop->watched.clear(); });
  bool finished = false;  // a round, without break and continue: else is left out then
  for (loop->at = 0; loop->at < loop->items.size(); loop->at++) {
    const Inner inner(*this);
    scope_->names.insert_or_assign("loop", Value{loop});
    assign(node.target, loop->items[loop->at]);
    const Flow flow = execute(node.body);
    finished = finished || flow == Flow::On;
    if (flow == Flow::Break) break;
  }
  if (finished) return Flow::On;
  const Inner inner(*this);
  return execute(node.otherwise);
}

void Machine::assign(const Target& target, const Value& value) {
  if (!target.member.empty()) {
    const Value object = this->value(Name{target.names[0]});
    if (!object.is<Namespace*>())
      throw Error("only a namespace has members that can be set; '{}' is a {}", printable(target.names[0]),
                  type_name(object));
    (*object.as<Namespace*>())->members.set(target.member, value);
  } else if (!target.is_tuple) {
    scope_->names.insert_or_assign(target.names[0], value);
  } else {
    const std::vector<Value> parts = items_of(run_, value);
    if (parts.size() != target.names.size())
      throw Error("{} names for {} values", target.names.size(), parts.size());
    for (size_t i = 0; i < parts.size(); i++) scope_->names.insert_or_assign(target.names[i], parts[i]);
  }
}

Machine::Flow Machine::run(const Set& node) {
  assign(node.target, evaluate(*node.value));
  return Flow::On;
}

Machine::Flow Machine::run(const SetBlock& node) {
  Value text;
  {
    const Inner inner(*this);
    text = captured(node.body);
  }
  if (node.filter != nullptr) {
    filtered_ = text;
    text = evaluate(*node.filter);
  }
  assign(node.target, text);
  return Flow::On;
}

Machine::Flow Machine::run(const Macro& node) {
  scope_->names.insert_or_assign(node.name, bound_macro(node));
  return Flow::On;
}

Machine::Flow Machine::run(const CallBlock& node) {
  const Value caller = bound_macro(node.caller);
  append(text_of(run_, call(std::get<Call>(node.call->of), &caller)));
  return Flow::On;
}

Machine::Flow Machine::run(const FilterBlock& node) {
  Value text;
  {
    const Inner inner(*this);
    text = captured(node.body);
  }
  filtered_ = std::move(text);
  append(text_of(run_, evaluate(*node.filter)));
  return Flow::On;
}

Machine::Flow Machine::run(const With& node) {
  std::vector<Value> values;
  for (const auto& [target, expression] : node.values) values.push_back(evaluate(*expression));
  const Inner inner(*this);
  for (size_t i = 0; i < values.size(); i++) assign(node.values[i].first, values[i]);
  return execute(node.body);
}

}  // namespace onceover::jinja
