// The arguments of one call, taken by their parameters in order.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "jinja/value.h"

namespace onceover::jinja {

class CallArguments {
 public:
  using Named = std::pair<std::string, Value>;

  CallArguments(std::string callee, std::vector<Value> positional, std::vector<Named> named)
      : callee_(std::move(callee)), positional_(std::move(positional)), named_(std::move(named)) {}

  const std::string& callee() const { return callee_; }

  // The next parameter: the next positional argument, else the one of that name. Null when neither is there.
  // Error when both are.
  const Value* take(const std::string& name);
  // The same, where it must be there.
  const Value& require(const std::string& name);
  // Of the type that the parameter has, or what it is when absent; anything else is an Error.
  bool flag(const std::string& name, bool when_absent);
  int64_t integer(const std::string& name, int64_t when_absent);
  // Null for absent and None.
  const Text* text(const std::string& name);

  // Positional arguments that are left, and what is named: taken.
  std::vector<Value> take_positional();
  std::vector<Named> take_named();

  // Error when an argument is left.
  void finish() const;

 private:
  std::string callee_;
  std::vector<Value> positional_;
  std::vector<Named> named_;
  std::vector<bool> taken_;  // of named_
  size_t next_ = 0;          // of positional_
};

}  // namespace onceover::jinja
