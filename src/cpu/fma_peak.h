// The ceiling that speeds are stated against.
#pragma once

namespace onceover::cpu {

// Processor time of this process so far, all threads, in seconds.
double processor_seconds();

// Multiply-adds of 8 floats from registers, fused where the machine can, of one core while `threads` threads
// are at it, in FLOP/s (a multiply-add is two); at most AVX2, like the kernels here. The best of three tries,
// about 10 ms each, per second of processor time, so that a machine shared with others still compares like
// with like: a waiting thread costs nothing, a spinning one does (OMP_WAIT_POLICY=passive lets them wait).
double fma_peak(int threads);

}  // namespace onceover::cpu
