// The ceilings that speeds are stated against.
#pragma once

namespace onceover::cpu {

// Processor time of this process so far, all threads, in seconds.
double processor_seconds();

// Two ceilings, each the best of three tries of about 10 ms, of one core while `threads` threads are at it,
// per second of processor time: so a machine shared with others still compares like with like. A waiting
// thread costs nothing, a spinning one does (OMP_WAIT_POLICY=passive lets them wait).
//
// Multiply-adds of 8 floats from registers, fused where the machine can, in FLOP/s (a multiply-add is two);
// at most AVX2, like the kernels here.
double fma_peak(int threads);
// Reading memory far larger than the caches, in bytes/s.
double read_bandwidth(int threads);

// The same two of all threads together, by the clock on the wall: what a user waits for.
struct Ceilings {
  double flops, bytes;  // a second
};
Ceilings measure_ceilings(int threads);

}  // namespace onceover::cpu
