#include <algorithm>
#include <type_traits>

#include "base/printable.h"
#include "jinja/parser.h"

namespace onceover::jinja {
namespace {

using Kind = Token::Kind;

int depth_of(const ExpressionPtr& one) { return one == nullptr ? 0 : one->depth; }

int depth_of(const std::vector<ExpressionPtr>& many) {
  int depth = 0;
  for (const auto& one : many) depth = std::max(depth, depth_of(one));
  return depth;
}

int depth_of(const Arguments& arguments) {
  int depth = depth_of(arguments.positional);
  for (const auto& [name, one] : arguments.named) depth = std::max(depth, depth_of(one));
  return depth;
}

struct Deepest {
  int operator()(const Literal&) const { return 0; }
  int operator()(const Name&) const { return 0; }
  int operator()(const ListLiteral& n) const { return depth_of(n.items); }
  int operator()(const DictLiteral& n) const {
    int depth = 0;
    for (const auto& [key, value] : n.entries) depth = std::max({depth, depth_of(key), depth_of(value)});
    return depth;
  }
  int operator()(const Unary& n) const { return depth_of(n.operand); }
  int operator()(const Binary& n) const { return std::max(depth_of(n.left), depth_of(n.right)); }
  int operator()(const Logic& n) const { return std::max(depth_of(n.left), depth_of(n.right)); }
  int operator()(const Comparison& n) const {
    int depth = depth_of(n.first);
    for (const auto& part : n.rest) depth = std::max(depth, depth_of(part.operand));
    return depth;
  }
  int operator()(const Conditional& n) const {
    return std::max({depth_of(n.condition), depth_of(n.then), depth_of(n.otherwise)});
  }
  int operator()(const Attribute& n) const { return depth_of(n.object); }
  int operator()(const Item& n) const { return std::max(depth_of(n.object), depth_of(n.index)); }
  int operator()(const Slice& n) const {
    return std::max({depth_of(n.object), depth_of(n.start), depth_of(n.stop), depth_of(n.step)});
  }
  int operator()(const Call& n) const { return std::max(depth_of(n.callee), depth_of(n.arguments)); }
  int operator()(const FilterCall& n) const { return std::max(depth_of(n.object), depth_of(n.arguments)); }
  int operator()(const TestCall& n) const { return std::max(depth_of(n.object), depth_of(n.arguments)); }
};

}  // namespace

template <class T>
ExpressionPtr Parser::make(const Position& at, T node) {
  const int depth = Deepest()(node) + 1;
  if (depth > max_depth) refuse(at, fmt::format("an expression deeper than {} levels", max_depth));
  return std::make_unique<const Expression>(Expression{std::move(node), at, depth});
}

bool Parser::ends_tuple() const {
  return now().kind == Kind::OutputEnd || now().kind == Kind::BlockEnd || is_operator(")");
}

ExpressionPtr Parser::tuple(bool with_conditional, bool in_parentheses) {
  const Position at = now().at;
  ListLiteral items{{}, true};
  bool commas = false;
  while (!ends_tuple()) {
    items.items.push_back(with_conditional ? expression() : either());
    if (!skip_operator(",")) break;
    commas = true;
  }
  if (!commas && !items.items.empty()) return std::move(items.items[0]);
  if (items.items.empty() && !in_parentheses) refuse("expected an expression");
  return make(at, std::move(items));
}

ExpressionPtr Parser::expression() {
  const Nesting nesting(*this);
  const Position at = now().at;
  ExpressionPtr value = either();
  while (skip_name("if")) {
    ExpressionPtr condition = either();
    ExpressionPtr otherwise = skip_name("else") ? expression() : nullptr;
    value = make(at, Conditional{std::move(condition), std::move(value), std::move(otherwise)});
  }
  return value;
}

ExpressionPtr Parser::either() {
  ExpressionPtr left = both();
  while (is_name("or")) {
    const Position at = take().at;
    left = make(at, Logic{false, std::move(left), both()});
  }
  return left;
}

ExpressionPtr Parser::both() {
  ExpressionPtr left = negation();
  while (is_name("and")) {
    const Position at = take().at;
    left = make(at, Logic{true, std::move(left), negation()});
  }
  return left;
}

ExpressionPtr Parser::negation() {
  if (!is_name("not")) return comparison();
  const Nesting nesting(*this);
  const Position at = take().at;
  return make(at, Unary{'!', negation()});
}

// The comparison that begins here, taken; empty when there is none.
std::string Parser::comparison_operator() {
  for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (skip_operator(op)) return op;
  }
  if (skip_name("in")) return "in";
  if (!is_name("not") || next().kind != Kind::Name || next().word != "in") return "";
  at_ += 2;
  return "not in";
}

ExpressionPtr Parser::comparison() {
  const Position at = now().at;
  Comparison node{sum(), {}};
  for (std::string op; !(op = comparison_operator()).empty();) node.rest.push_back({op, sum()});
  return node.rest.empty() ? std::move(node.first) : make(at, std::move(node));
}

ExpressionPtr Parser::sum() {
  ExpressionPtr left = concatenation();
  while (is_operator("+") || is_operator("-")) {
    const Token op = take();
    left = make(op.at, Binary{op.word, std::move(left), concatenation()});
  }
  return left;
}

ExpressionPtr Parser::concatenation() {
  ExpressionPtr left = product();
  while (is_operator("~")) {
    const Token op = take();
    left = make(op.at, Binary{op.word, std::move(left), product()});
  }
  return left;
}

ExpressionPtr Parser::product() {
  ExpressionPtr left = power();
  while (is_operator("*") || is_operator("/") || is_operator("//") || is_operator("%")) {
    const Token op = take();
    left = make(op.at, Binary{op.word, std::move(left), power()});
  }
  return left;
}

ExpressionPtr Parser::power() {
  ExpressionPtr left = unary();
  while (is_operator("**")) {
    const Token op = take();
    left = make(op.at, Binary{op.word, std::move(left), unary()});
  }
  return left;
}

ExpressionPtr Parser::unary(bool with_filter) {
  const Nesting nesting(*this);
  ExpressionPtr value;
  if (is_operator("-") || is_operator("+")) {
    const Token op = take();
    value = make(op.at, Unary{op.word[0], unary(false)});
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filter ? filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::primary() {
  const Position at = now().at;
  if (now().kind == Kind::Name) return named_value();
  if (now().kind == Kind::Integer) return make(at, Literal{{take().integer}});
  if (now().kind == Kind::Float) return make(at, Literal{{take().number}});
  if (now().kind == Kind::String) {
    Text text;
    while (now().kind == Kind::String) text += take().text;
    return make(at, Literal{text_value(std::move(text))});
  }
  if (is_operator("[")) return list();
  if (is_operator("{")) return dict();
  if (!skip_operator("(")) refuse("expected an expression");
  ExpressionPtr value = tuple(true, true);
  expect_operator(")");
  return value;
}

ExpressionPtr Parser::named_value() {
  const Token token = take();
  if (token.word == "true" || token.word == "True") return make(token.at, Literal{{true}});
  if (token.word == "false" || token.word == "False") return make(token.at, Literal{{false}});
  if (token.word == "none" || token.word == "None") return make(token.at, Literal{{None{}}});
  return make(token.at, Name{token.word});
}

ExpressionPtr Parser::list() {
  const Position at = take().at;
  ListLiteral node{{}, false};
  while (!is_operator("]")) {
    node.items.push_back(expression());
    if (!skip_operator(",")) break;
  }
  expect_operator("]");
  return make(at, std::move(node));
}

ExpressionPtr Parser::dict() {
  const Position at = take().at;
  DictLiteral node;
  while (!is_operator("}")) {
    ExpressionPtr key = expression();
    expect_operator(":");
    node.entries.emplace_back(std::move(key), expression());
    if (!skip_operator(",")) break;
  }
  expect_operator("}");
  return make(at, std::move(node));
}

ExpressionPtr Parser::postfix(ExpressionPtr object) {
  while (true) {
    const Position at = now().at;
    if (is_operator(".")) {
      object = attribute(std::move(object));
    } else if (is_operator("[")) {
      object = subscript(std::move(object));
    } else if (is_operator("(")) {
      object = make(at, Call{std::move(object), arguments()});
    } else {
      return object;
    }
  }
}

ExpressionPtr Parser::filters_and_tests(ExpressionPtr object) {
  while (true) {
    const Position at = now().at;
    if (is_operator("|")) {
      object = filter(std::move(object));
    } else if (is_name("is")) {
      object = test(std::move(object));
    } else if (is_operator("(")) {
      object = make(at, Call{std::move(object), arguments()});
    } else {
      return object;
    }
  }
}

ExpressionPtr Parser::attribute(ExpressionPtr object) {
  const Position at = take().at;
  if (now().kind == Kind::Integer) {
    ExpressionPtr index = make(now().at, Literal{{take().integer}});
    return make(at, Item{std::move(object), std::move(index)});
  }
  return make(at, Attribute{std::move(object), take_name("an attribute's name")});
}

ExpressionPtr Parser::subscript(ExpressionPtr object) {
  const Position at = take().at;
  ExpressionPtr start = is_operator(":") ? nullptr : expression();
  if (!skip_operator(":")) {
    expect_operator("]");
    return make(at, Item{std::move(object), std::move(start)});
  }
  ExpressionPtr stop = is_operator(":") || is_operator("]") ? nullptr : expression();
  ExpressionPtr step = skip_operator(":") && !is_operator("]") ? expression() : nullptr;
  expect_operator("]");
  return make(at, Slice{std::move(object), std::move(start), std::move(stop), std::move(step)});
}

ExpressionPtr Parser::filter(ExpressionPtr object) {
  take();
  const Position at = now().at;
  const std::string name = take_name("a filter's name");
  const Filter* found = find_filter(name);
  if (found == nullptr) refuse(at, fmt::format("filter '{}' is not supported", printable(name)));
  Arguments given = is_operator("(") ? arguments() : Arguments{};
  return make(at, FilterCall{std::move(object), found, std::move(given)});
}

// Of a block: the text goes through all of them.
ExpressionPtr Parser::filter_chain() {
  ExpressionPtr chain;
  while (chain == nullptr || is_operator("|")) chain = filter(std::move(chain));
  return chain;
}

ExpressionPtr Parser::test(ExpressionPtr object) {
  take();
  const bool negated = skip_name("not");
  const Position at = now().at;
  const std::string name = take_name("a test's name");
  const Test* found = find_test(name);
  if (found == nullptr) refuse(at, fmt::format("test '{}' is not supported", printable(name)));
  return make(at, TestCall{std::move(object), found, test_arguments(), negated});
}

// In parentheses, or one value without them: `is divisibleby 3`.
Arguments Parser::test_arguments() {
  Arguments given;
  if (is_operator("(")) return arguments();
  const bool value = now().kind == Kind::String || now().kind == Kind::Integer || now().kind == Kind::Float ||
                     is_operator("[") || is_operator("{");
  const bool word = now().kind == Kind::Name && !is_name("else") && !is_name("or") && !is_name("and");
  if (is_name("is")) refuse("a test cannot follow a test without parentheses");
  if (value || word) given.positional.push_back(postfix(primary()));
  return given;
}

Arguments Parser::arguments() {
  expect_operator("(");
  Arguments given;
  while (!is_operator(")")) {
    if (is_operator("*") || is_operator("**")) refuse(now().word + " before an argument is not supported");
    if (now().kind == Kind::Name && next().kind == Kind::Operator && next().word == "=") {
      const std::string name = take().word;
      take();
      given.named.emplace_back(name, expression());
    } else {
      if (!given.named.empty()) refuse("an argument without a name follows one with a name");
      given.positional.push_back(expression());
    }
    if (given.positional.size() + given.named.size() > max_arguments)
      refuse(fmt::format("more than {} arguments", max_arguments));
    if (!skip_operator(",")) break;
  }
  expect_operator(")");
  return given;
}

}  // namespace onceover::jinja
