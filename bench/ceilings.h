// What the machine can do at this moment: the figures that kernels are measured against.
//
// All rates are per second of processor time, summed over threads, so that a machine shared with others still
// compares like with like: a waiting thread costs nothing, a spinning one does (OMP_WAIT_POLICY=passive lets
// them wait).
#pragma once

namespace onceover::bench {

// Processor time of this process so far, all threads.
double cpu_seconds();

// Fused multiply-adds from registers, in FLOP/s (an FMA is two), with `threads` threads at it.
double fma_peak(int threads);

// Reading a buffer far larger than the caches, in bytes/s, with `threads` threads at it.
double read_bandwidth(int threads);

}  // namespace onceover::bench
