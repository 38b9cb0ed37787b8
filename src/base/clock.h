// The time that passes, for rates and deadlines.
#pragma once
#include <chrono>

namespace onceover {

// Seconds of the wall clock since an arbitrary moment; never goes back.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace onceover
