#include "jinja/call_arguments.h"

#include <optional>

#include "base/error.h"

namespace onceover::jinja {
namespace {

[[noreturn]] void refuse_type(const std::string& callee, const std::string& name, const char* expected,
                              const Value& found) {
  throw Error("{}: '{}' must be {}, found {}", callee, name, expected, type_name(found));
}

}  // namespace

const Value* CallArguments::take(const std::string& name) {
  taken_.resize(named_.size());
  const Value* found = next_ < positional_.size() ? &positional_[next_++] : nullptr;
  for (size_t i = 0; i < named_.size(); i++) {
    if (named_[i].first != name) continue;
    if (found != nullptr) throw Error("{} is given '{}' twice", callee_, name);
    taken_[i] = true;
    found = &named_[i].second;
  }
  return found;
}

const Value& CallArguments::require(const std::string& name) {
  const Value* found = take(name);
  if (found == nullptr) throw Error("{} needs the argument '{}'", callee_, name);
  return *found;
}

bool CallArguments::flag(const std::string& name, bool when_absent) {
  const Value* found = take(name);
  return found == nullptr ? when_absent : is_true(*found);
}

int64_t CallArguments::integer(const std::string& name, int64_t when_absent) {
  const Value* found = take(name);
  if (found == nullptr) return when_absent;
  const auto integer = as_integer(*found);
  if (!integer) refuse_type(callee_, name, "an integer", *found);
  return *integer;
}

const Text* CallArguments::text(const std::string& name) {
  const Value* found = take(name);
  if (found == nullptr || found->is<None>()) return nullptr;
  if (found->text() == nullptr) refuse_type(callee_, name, "a text", *found);
  return found->text();
}

std::vector<Value> CallArguments::take_positional() {
  std::vector<Value> rest(positional_.begin() + static_cast<ptrdiff_t>(next_), positional_.end());
  next_ = positional_.size();
  return rest;
}

std::vector<CallArguments::Named> CallArguments::take_named() {
  taken_.resize(named_.size());
  std::vector<Named> rest;
  for (size_t i = 0; i < named_.size(); i++) {
    if (!taken_[i]) rest.push_back(named_[i]);
    taken_[i] = true;
  }
  return rest;
}

void CallArguments::finish() const {
  if (next_ < positional_.size())
    throw Error("{} takes {} arguments, found {}", callee_, next_, positional_.size());
  for (size_t i = 0; i < named_.size(); i++) {
    if (i >= taken_.size() || !taken_[i]) throw Error("{} has no argument '{}'", callee_, named_[i].first);
  }
}

}  // namespace onceover::jinja
