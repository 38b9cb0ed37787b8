#include "jinja/loop.h"

namespace onceover::jinja {

std::optional<Value> loop_member(const Loop& loop, const std::string& name) {
  const auto number = [](size_t n) { return Value{static_cast<int64_t>(n)}; };
  const size_t left = loop.items.size() - loop.at;
  if (name == "index") return number(loop.at + 1);
  if (name == "index0") return number(loop.at);
  if (name == "revindex") return number(left);
  if (name == "revindex0") return number(left - 1);
  if (name == "first") return Value{loop.at == 0};
  if (name == "last") return Value{left == 1};
  if (name == "length") return number(loop.items.size());
  // Of recursive loops only it would be more.
  if (name == "depth") return number(1);
  if (name == "depth0") return number(0);
  if (name == "previtem") return loop.at == 0 ? undefined("loop.previtem") : loop.items[loop.at - 1];
  if (name == "nextitem") return left <= 1 ? undefined("loop.nextitem") : loop.items[loop.at + 1];
  return std::nullopt;
}

}  // namespace onceover::jinja
