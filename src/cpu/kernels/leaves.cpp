#include "cpu/kernels/leaves.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace onceover::kernels {
namespace {

const Leaves* choose() {
  const char* wanted = std::getenv("ONCEOVER_ISA");
  if (wanted && std::string_view(wanted) == "portable") return &portable_leaves;
#if defined(__x86_64__)
  if (has_avx2()) return &avx2_leaves;
#endif
  return &portable_leaves;
}

std::atomic<const Leaves*>& chosen() {
  static std::atomic<const Leaves*> table{choose()};
  return table;
}

}  // namespace

bool has_avx2() {
#if defined(__x86_64__)
  // clang 14 does not know "f16c" by name.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && f16c;
#else
  return false;
#endif
}

const Leaves& leaves() { return *chosen().load(std::memory_order_relaxed); }

void use_leaves(const Leaves& table) { chosen().store(&table, std::memory_order_relaxed); }

}  // namespace onceover::kernels
