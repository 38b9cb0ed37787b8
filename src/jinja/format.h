// Values as text, as Python writes them. Marks of origin are kept.
#pragma once
#include "jinja/run.h"
#include "jinja/value.h"

namespace onceover::jinja {

// str(value); nothing for undefined. Error for what Python would show by its address.
Text text_of(Run& run, const Value& value);

struct JsonStyle {
  int indent = -1;  // spaces a level; -1 = all on one line
  Text item_separator = U", ", key_separator = U": ";
  bool ensure_ascii = false, sort_keys = false;
};

// json.dumps(value).
Text json_of(Run& run, const Value& value, const JsonStyle& style);

}  // namespace onceover::jinja
