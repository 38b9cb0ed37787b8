// Python's operators on values. What Python raises is an Error.
#pragma once
#include <string>

#include "jinja/run.h"
#include "jinja/value.h"

namespace onceover::jinja {

// + - * / // % ** ~
Value binary(Run& run, const std::string& op, const Value& left, const Value& right);
Value negative(const Value& value);
// Error for undefined.
void require_defined(const Value& value);
// Whether `part` is in `whole`.
bool contains(Run& run, const Value& whole, const Value& part);

// What Python's iter() gives: elements, keys, characters; nothing for undefined.
std::vector<Value> items_of(Run& run, const Value& value);
int64_t length_of(const Value& value);

// object.name as Jinja reads it: an attribute of the Python object, else the item; undefined for neither.
Value attribute(Run& run, const Value& object, const std::string& name);
// object[index]: the item, else the attribute.
Value item(Run& run, const Value& object, const Value& index);
// object[start:stop:step]; None where a bound is left out.
Value slice(Run& run, const Value& object, const Value& start, const Value& stop, const Value& step);

}  // namespace onceover::jinja
