// The filters by group; find_filter() looks in all of them.
#pragma once
#include <span>

#include "jinja/builtins.h"

namespace onceover::jinja {

std::span<const Filter> text_filters();
std::span<const Filter> list_filters();
std::span<const Filter> selecting_filters();
std::span<const Filter> number_filters();

}  // namespace onceover::jinja
