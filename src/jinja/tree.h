// A parsed template. Nodes are read only; a tree's depth is bounded by the parser.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/builtins.h"
#include "jinja/lexer.h"
#include "jinja/value.h"

namespace onceover::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;
struct Statement;
using Block = std::vector<Statement>;

struct Arguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct ListLiteral {
  std::vector<ExpressionPtr> items;
  bool is_tuple;
};
struct DictLiteral {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct Unary {
  char op;  // '-', '+', '!' for not
  ExpressionPtr operand;
};
struct Binary {
  std::string op;  // + - * / // % ** ~
  ExpressionPtr left, right;
};
struct Logic {
  bool is_and;
  ExpressionPtr left, right;
};
struct Comparison {
  struct Part {
    std::string op;  // == != < <= > >= in, and "not in"
    ExpressionPtr operand;
  };
  ExpressionPtr first;
  std::vector<Part> rest;
};
struct Conditional {
  ExpressionPtr condition, then, otherwise;  // the last may be null
};
struct Attribute {
  ExpressionPtr object;
  std::string name;
};
struct Item {
  ExpressionPtr object, index;
};
struct Slice {
  ExpressionPtr object, start, stop, step;  // all but the first may be null
};
struct Call {
  ExpressionPtr callee;
  Arguments arguments;
};
struct FilterCall {
  ExpressionPtr object;  // null where a block's text is filtered
  const Filter* filter;
  Arguments arguments;
};
struct TestCall {
  ExpressionPtr object;
  const Test* test;
  Arguments arguments;
  bool negated;
};

struct Expression {
  std::variant<Literal, Name, ListLiteral, DictLiteral, Unary, Binary, Logic, Comparison, Conditional,
               Attribute, Item, Slice, Call, FilterCall, TestCall>
      of;
  Position at;
  int depth = 1;
};

// What is assigned to: a name, a member of a namespace, or several names.
struct Target {
  std::vector<std::string> names;
  std::string member;  // of the namespace names[0]; else empty
  bool is_tuple = false;
};

struct Data {
  Text text;
};
struct Output {
  ExpressionPtr value;
};
struct If {
  struct Branch {
    ExpressionPtr condition;  // null for else
    Block body;
  };
  std::vector<Branch> branches;
};
struct For {
  Target target;
  ExpressionPtr items, condition;  // the last may be null
  Block body, otherwise;
};
struct Set {
  Target target;
  ExpressionPtr value;
};
struct SetBlock {
  Target target;
  ExpressionPtr filter;  // a FilterCall chain, or null
  Block body;
};
struct Parameter {
  std::string name;
  ExpressionPtr when_absent;  // may be null
};
struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
};
struct CallBlock {
  Macro caller;
  ExpressionPtr call;
};
struct FilterBlock {
  ExpressionPtr filter;
  Block body;
};
struct With {
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Block body;
};
struct Break {};
struct Continue {};

struct Statement {
  std::variant<Data, Output, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With, Break, Continue> of;
  Position at;
};

}  // namespace onceover::jinja
