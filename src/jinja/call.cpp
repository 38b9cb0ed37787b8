#include "base/printable.h"
#include "jinja/machine.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

std::string callee_name(const Expression& callee) {
  if (const auto* name = std::get_if<Name>(&callee.of)) return printable(name->name);
  if (const auto* attribute = std::get_if<Attribute>(&callee.of)) return printable(attribute->name);
  return "the function";
}

}  // namespace

Value Machine::call(const Call& node, const Value* caller) {
  const Value callee = evaluate(*node.callee);
  CallArguments arguments = arguments_of(callee_name(*node.callee), node.arguments);
  return call(callee, arguments, caller);
}

Value Machine::call(const Value& callee, CallArguments& arguments, const Value* caller) {
  if (const Undefined* missing = callee.as<Undefined>())
    throw Error("{} is undefined; it cannot be called", *missing->what);
  const FunctionPtr* function = callee.as<FunctionPtr>();
  if (function == nullptr) throw Error("a value of type {} cannot be called", type_name(callee));
  if (const auto* macro = std::get_if<BoundMacro>(&(*function)->of))
    return call_macro(*macro, arguments, caller);
  if (caller != nullptr) throw Error("{} is no macro: it takes no call block", arguments.callee());
  if (const auto* method = std::get_if<BoundMethod>(&(*function)->of))
    return call_method(run_, method->object, method->name, arguments);
  return std::get<const Builtin*>((*function)->of)->call(run_, arguments);
}

Value Machine::bound_macro(const Macro& macro) const {
  return {std::make_shared<const Function>(Function{BoundMacro{&macro, scope_}})};
}

// Parameters without an argument or a default are undefined, as in Jinja.
Value Machine::call_macro(const BoundMacro& bound, CallArguments& arguments, const Value* caller) {
  const std::shared_ptr<Scope> outer = bound.scope.lock();
  const Macro& macro = *bound.macro;
  if (outer == nullptr)
    throw Error("macro '{}' is called outside of the block that made it", printable(macro.name));
  const Inner inner(*this, outer);
  scope_->names.emplace("caller", caller == nullptr ? undefined("'caller'") : *caller);
  for (const Parameter& parameter : macro.parameters) {
    const Value* given = arguments.take(parameter.name);
    Value value = given != nullptr ? *given
                  : parameter.when_absent != nullptr
                      ? evaluate(*parameter.when_absent)
                      : undefined(fmt::format("parameter '{}'", printable(parameter.name)));
    scope_->names.insert_or_assign(parameter.name, std::move(value));
  }
  arguments.finish();
  return captured(macro.body);
}

}  // namespace onceover::jinja
