// The machine's other ceiling beside cpu/fma_peak.h, measured in the same way: per second of processor time.
#pragma once

namespace onceover::bench {

// Reading a buffer far larger than the caches, in bytes/s, with `threads` threads at it.
double read_bandwidth(int threads);

}  // namespace onceover::bench
