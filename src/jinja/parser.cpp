#include "jinja/parser.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "jinja/located.h"

namespace onceover::jinja {
namespace {

using Kind = Token::Kind;

std::string description(const Token& token) {
  switch (token.kind) {
    case Kind::Name:
    case Kind::Operator:
      return fmt::format("'{}'", printable(token.word));
    case Kind::String:
      return "a text";
    case Kind::Integer:
    case Kind::Float:
      return "a number";
    case Kind::BlockEnd:
      return "'%}'";
    case Kind::OutputEnd:
      return "'}}'";
    default:
      return "the template's end";
  }
}

}  // namespace

void Parser::refuse(const Position& at, const std::string& what) const { throw_at(where_, at, what); }

bool Parser::skip_name(const char* word) {
  if (!is_name(word)) return false;
  at_++;
  return true;
}

bool Parser::skip_operator(const char* word) {
  if (!is_operator(word)) return false;
  at_++;
  return true;
}

void Parser::expect_operator(const char* word) {
  if (!skip_operator(word)) refuse(fmt::format("expected '{}', found {}", word, description(now())));
}

void Parser::expect_name(const char* word) {
  if (!skip_name(word)) refuse(fmt::format("expected '{}', found {}", word, description(now())));
}

void Parser::expect_end_of_tag() {
  if (now().kind != Kind::BlockEnd) refuse(fmt::format("expected '%}}', found {}", description(now())));
  at_++;
}

std::string Parser::take_name(const char* what) {
  if (now().kind != Kind::Name) refuse(fmt::format("expected {}, found {}", what, description(now())));
  return take().word;
}

Block Parser::parse() { return statements({}); }

// Up to a tag that one of `ends` names: its name is then the current token. All of the template where there
// are none.
Block Parser::statements(const std::vector<std::string>& ends) {
  const Nesting nesting(*this);
  Block block;
  while (now().kind != Kind::End) {
    const Position at = now().at;
    if (now().kind == Kind::Data) {
      block.push_back({Data{take().text}, at});
    } else if (now().kind == Kind::OutputBegin) {
      take();
      block.push_back({Output{tuple()}, at});
      if (now().kind != Kind::OutputEnd) refuse(fmt::format("expected '}}}}', found {}", description(now())));
      take();
    } else {
      take();
      if (std::any_of(ends.begin(), ends.end(), [&](const std::string& end) { return is_name(end.c_str()); }))
        return block;
      block.push_back(statement());
    }
  }
  if (!ends.empty()) refuse(fmt::format("expected '{}', found the template's end", ends.back()));
  return block;
}

// What stands in a block: after its tag, and up to the tag `end`, which is taken too.
Block Parser::body_until(const char* end) {
  expect_end_of_tag();
  Block body = statements({end});
  take();
  expect_end_of_tag();
  return body;
}

// The same, where what the block writes is kept: no break or continue leads out of it.
Block Parser::captured_until(const char* end) {
  const int outer = std::exchange(loops_, 0);
  Block body = body_until(end);
  loops_ = outer;
  return body;
}

Statement Parser::statement() {
  const Position at = now().at;
  const std::string name = take_name("a tag's name");
  if (name == "if") return if_statement(at);
  if (name == "for") return for_statement(at);
  if (name == "set") return set_statement(at);
  if (name == "macro") return macro_statement(at);
  if (name == "call") return call_statement(at);
  if (name == "filter") return filter_statement(at);
  if (name == "with") return with_statement(at);
  if (name == "break" || name == "continue") return loop_control(at, name == "break");
  if (name == "generation") return {With{{}, body_until("endgeneration")}, at};
  if (name == "print") {
    Statement output{Output{expression()}, at};
    expect_end_of_tag();
    return output;
  }
  refuse(at, fmt::format("tag '{}' is not supported here", printable(name)));
}

Statement Parser::if_statement(const Position& at) {
  If node;
  node.branches.push_back({tuple(false), {}});
  while (true) {
    expect_end_of_tag();
    const bool last = node.branches.back().condition == nullptr;
    node.branches.back().body = statements(last ? std::vector<std::string>{"endif"}
                                                : std::vector<std::string>{"elif", "else", "endif"});
    const std::string end = take().word;
    if (end == "endif") break;
    node.branches.push_back({end == "elif" ? tuple(false) : nullptr, {}});
  }
  expect_end_of_tag();
  return {std::move(node), at};
}

Statement Parser::for_statement(const Position& at) {
  For node;
  node.target = target("in");
  expect_name("in");
  node.items = tuple(false);
  if (skip_name("if")) node.condition = expression();
  if (is_name("recursive")) refuse("a recursive loop is not supported");
  expect_end_of_tag();
  loops_++;
  node.body = statements({"else", "endfor"});
  loops_--;
  if (take().word == "else") {
    node.otherwise = body_until("endfor");
  } else {
    expect_end_of_tag();
  }
  return {std::move(node), at};
}

Statement Parser::set_statement(const Position& at) {
  Target to = target("=");
  if (!to.is_tuple && to.member.empty() && skip_operator(".")) to.member = take_name("a member's name");
  if (skip_operator("=")) {
    Set node{std::move(to), tuple()};
    expect_end_of_tag();
    return {std::move(node), at};
  }
  ExpressionPtr chain = is_operator("|") ? filter_chain() : nullptr;
  return {SetBlock{std::move(to), std::move(chain), captured_until("endset")}, at};
}

std::string Parser::assignable_name() {
  constexpr std::array reserved{"true", "false", "none", "True", "False", "None", "loop"};
  const Position at = now().at;
  std::string name = take_name("a name");
  if (std::find(reserved.begin(), reserved.end(), name) != reserved.end())
    refuse(at, fmt::format("'{}' cannot be assigned to", name));
  return name;
}

Target Parser::target(const char* end) {
  Target to;
  const bool parentheses = skip_operator("(");
  while (to.names.empty() || !(is_name(end) || is_operator(end) || is_operator(")"))) {
    to.names.push_back(assignable_name());
    if (!skip_operator(",")) break;
    to.is_tuple = true;
  }
  if (parentheses) expect_operator(")");
  return to;
}

std::vector<Parameter> Parser::parameters() {
  std::vector<Parameter> all;
  expect_operator("(");
  while (!is_operator(")")) {
    const Position at = now().at;
    Parameter one{assignable_name(), nullptr};
    const auto same = [&](const Parameter& other) { return other.name == one.name; };
    if (one.name == "caller") refuse(at, "a parameter 'caller' is not supported");
    if (std::any_of(all.begin(), all.end(), same))
      refuse(at, fmt::format("a second parameter '{}'", printable(one.name)));
    if (skip_operator("=")) {
      one.when_absent = expression();
    } else if (!all.empty() && all.back().when_absent != nullptr) {
      refuse("a parameter without a default follows one with a default");
    }
    all.push_back(std::move(one));
    if (all.size() > max_arguments) refuse(fmt::format("more than {} parameters", max_arguments));
    if (!skip_operator(",")) break;
  }
  expect_operator(")");
  return all;
}

Statement Parser::macro_statement(const Position& at) {
  Macro node;
  node.name = assignable_name();
  node.parameters = parameters();
  node.body = captured_until("endmacro");
  return {std::move(node), at};
}

Statement Parser::call_statement(const Position& at) {
  CallBlock node;
  node.caller.name = "caller";
  if (is_operator("(")) node.caller.parameters = parameters();
  const Position place = now().at;
  node.call = expression();
  if (!std::holds_alternative<Call>(node.call->of)) refuse(place, "expected a call");
  node.caller.body = captured_until("endcall");
  return {std::move(node), at};
}

Statement Parser::filter_statement(const Position& at) {
  // The chain is read as if "|" stood before it.
  tokens_[--at_] = {Kind::Operator, at, "|"};
  ExpressionPtr chain = filter_chain();
  return {FilterBlock{std::move(chain), captured_until("endfilter")}, at};
}

Statement Parser::with_statement(const Position& at) {
  With node;
  while (now().kind != Kind::BlockEnd) {
    Target to = target("=");
    expect_operator("=");
    node.values.emplace_back(std::move(to), expression());
    if (!skip_operator(",")) break;
  }
  node.body = body_until("endwith");
  return {std::move(node), at};
}

Statement Parser::loop_control(const Position& at, bool is_break) {
  if (loops_ == 0) refuse(at, "break and continue belong into a loop");
  expect_end_of_tag();
  if (is_break) return {Break{}, at};
  return {Continue{}, at};
}

}  // namespace onceover::jinja
