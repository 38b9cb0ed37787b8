// A stretch of a text.
#pragma once
#include <cstddef>

namespace onceover {

struct ByteSpan {
  size_t start, end;  // [start, end)
};

}  // namespace onceover
