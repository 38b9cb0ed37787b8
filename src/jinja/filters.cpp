#include "jinja/filters.h"

#include <algorithm>

namespace onceover::jinja {

const Filter* find_filter(const std::string& name) {
  for (const auto group : {text_filters(), list_filters(), selecting_filters(), number_filters()}) {
    const auto found =
        std::find_if(group.begin(), group.end(), [&](const Filter& one) { return name == one.name; });
    if (found != group.end()) return &*found;
  }
  return nullptr;
}

}  // namespace onceover::jinja
