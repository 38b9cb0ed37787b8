#include "cpu/kv_type.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace onceover::cpu {
namespace {

// In the order of KvType.
const std::vector<std::string> names = {"f32", "f16", "q8"};

}  // namespace

KvType kv_type(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<KvType>(found - names.begin());
  throw Error("unknown format of keys and values '{}'; expected {}", name, fmt::join(names, ", "));
}

std::string_view kv_type_name(KvType type) { return names[static_cast<size_t>(type)]; }

const std::vector<std::string>& kv_type_names() { return names; }

}  // namespace onceover::cpu
