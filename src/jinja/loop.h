// `loop` inside a for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "jinja/value.h"

namespace onceover::jinja {

struct Loop {
  std::vector<Value> items;
  size_t at = 0;
  int depth = 1;               // one more than its items'
  std::vector<Value> watched;  // what changed() was last given
  bool watches = false;
};

// loop.NAME; none for an unknown name.
std::optional<Value> loop_member(const Loop& loop, const std::string& name);

}  // namespace onceover::jinja
