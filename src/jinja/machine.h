// Runs a parsed template.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "jinja/function.h"
#include "jinja/loop.h"
#include "jinja/run.h"
#include "jinja/tree.h"

namespace onceover::jinja {

struct Scope {
  std::unordered_map<std::string, Value> names;
  std::shared_ptr<Scope> outer;
};

class Machine {
 public:
  // Nested expressions, statements and calls at one time.
  static constexpr int max_depth = 300;

  // `variables` are what names mean at first; `where` names the template in errors.
  Machine(Run& run, const Dict& variables, const std::string& where);

  // What the block writes.
  Text write(const Block& block);

 private:
  enum class Flow { On, Break, Continue };
  class Nesting;
  class Inner;

  // execute.cpp
  Flow execute(const Block& block);
  Flow execute(const Statement& statement);
  Flow run(const Data& node);
  Flow run(const Output& node);
  Flow run(const If& node);
  Flow run(const For& node);
  Flow run(const Set& node);
  Flow run(const SetBlock& node);
  Flow run(const Macro& node);
  Flow run(const CallBlock& node);
  Flow run(const FilterBlock& node);
  Flow run(const With& node);
  Flow run(const Break&) { return Flow::Break; }
  Flow run(const Continue&) { return Flow::Continue; }
  std::vector<Value> chosen_items(const For& node);
  Value captured(const Block& block);
  void assign(const Target& target, const Value& value);
  void append(TextView text);

  // evaluate.cpp
  Value evaluate(const Expression& expression);
  Value evaluate_or_none(const ExpressionPtr& expression);
  Value value(const Literal& node) { return node.value; }
  Value value(const Name& node);
  Value value(const ListLiteral& node);
  Value value(const DictLiteral& node);
  Value value(const Unary& node);
  Value value(const Binary& node);
  Value value(const Logic& node);
  Value value(const Comparison& node);
  Value value(const Conditional& node);
  Value value(const Attribute& node);
  Value value(const Item& node);
  Value value(const Slice& node);
  Value value(const Call& node) { return call(node, nullptr); }
  Value value(const FilterCall& node);
  Value value(const TestCall& node);
  bool holds(const std::string& op, const Value& left, const Value& right);
  CallArguments arguments_of(const std::string& callee, const Arguments& arguments);

  // call.cpp
  Value call(const Call& node, const Value* caller);
  Value call(const Value& callee, CallArguments& arguments, const Value* caller);
  Value call_macro(const BoundMacro& bound, CallArguments& arguments, const Value* caller);
  Value bound_macro(const Macro& macro) const;

  Run& run_;
  const std::string& where_;
  std::shared_ptr<Scope> scope_;
  Text* out_ = nullptr;
  Value filtered_;  // what a block's filters are given
  int depth_ = 0;
};

// One more level, for as long as it lives.
class Machine::Nesting {
 public:
  explicit Nesting(Machine& machine) : machine_(machine) {
    if (machine_.depth_ >= max_depth) throw Error("the template nests deeper than {} levels", max_depth);
    machine_.depth_++;
  }
  Nesting(const Nesting&) = delete;
  ~Nesting() { machine_.depth_--; }

 private:
  Machine& machine_;
};

// A scope inside `outer`, for as long as it lives.
class Machine::Inner {
 public:
  Inner(Machine& machine, std::shared_ptr<Scope> outer) : machine_(machine), before_(machine.scope_) {
    machine_.scope_ = std::make_shared<Scope>(Scope{{}, std::move(outer)});
  }
  explicit Inner(Machine& machine) : Inner(machine, machine.scope_) {}
  Inner(const Inner&) = delete;
  ~Inner() { machine_.scope_ = before_; }

 private:
  Machine& machine_;
  std::shared_ptr<Scope> before_;
};

}  // namespace onceover::jinja
