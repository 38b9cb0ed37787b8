// Who sees whom in attention, and therefore which rows of a key or value outlive a call.
#pragma once

namespace onceover {

// Query row i sees key rows i-window+1 .. i: exactly `window` keys, itself included. 0 = every row up to i
// (causal).
struct Mask {
  int window = 0;
};

}  // namespace onceover
