// From tokens to a tree.
//
// What is not supported is refused by name: include, import, extends, block, do, autoescape, trans, recursive
// loops, *arguments, unknown filters and tests. Depth of a tree: max_depth.
#pragma once
#include <string>
#include <vector>

#include "jinja/tree.h"

namespace onceover::jinja {

class Parser {
 public:
  static constexpr int max_depth = 100;
  static constexpr size_t max_arguments = 250;  // of a call, and parameters of a macro

  // `where` names the template in errors.
  Parser(std::vector<Token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {}

  Block parse();

 private:
  class Nesting;

  const Token& now() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool is_name(const char* word) const { return now().kind == Token::Kind::Name && now().word == word; }
  bool is_operator(const char* word) const {
    return now().kind == Token::Kind::Operator && now().word == word;
  }
  bool skip_name(const char* word);
  bool skip_operator(const char* word);
  void expect_operator(const char* word);
  void expect_name(const char* word);
  void expect_end_of_tag();
  std::string take_name(const char* what);
  [[noreturn]] void refuse(const std::string& what) const { refuse(now().at, what); }
  [[noreturn]] void refuse(const Position& at, const std::string& what) const;

  // parser.cpp
  Block statements(const std::vector<std::string>& ends);
  Block body_until(const char* end);
  Block captured_until(const char* end);
  Statement statement();
  Statement if_statement(const Position& at);
  Statement for_statement(const Position& at);
  Statement set_statement(const Position& at);
  Statement macro_statement(const Position& at);
  Statement call_statement(const Position& at);
  Statement filter_statement(const Position& at);
  Statement with_statement(const Position& at);
  Statement loop_control(const Position& at, bool is_break);
  std::vector<Parameter> parameters();
  Target target(const char* end);
  std::string assignable_name();

  // parser_expressions.cpp
  template <class T>
  ExpressionPtr make(const Position& at, T node);
  ExpressionPtr tuple(bool with_conditional = true, bool in_parentheses = false);
  bool ends_tuple() const;
  ExpressionPtr expression();
  ExpressionPtr either();
  ExpressionPtr both();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  std::string comparison_operator();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filter = true);
  ExpressionPtr primary();
  ExpressionPtr named_value();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr object);
  ExpressionPtr filters_and_tests(ExpressionPtr object);
  ExpressionPtr attribute(ExpressionPtr object);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr filter(ExpressionPtr object);
  ExpressionPtr filter_chain();
  ExpressionPtr test(ExpressionPtr object);
  Arguments test_arguments();
  Arguments arguments();

  std::vector<Token> tokens_;
  const std::string& where_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // that break and continue stand in
};

// Counts how deep the parser is, for as long as it lives.
class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (parser_.depth_ >= max_depth) parser_.refuse(fmt::format("nested deeper than {} levels", max_depth));
    parser_.depth_++;
  }
  Nesting(const Nesting&) = delete;
  ~Nesting() { parser_.depth_--; }

 private:
  Parser& parser_;
};

}  // namespace onceover::jinja
