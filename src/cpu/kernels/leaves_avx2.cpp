#if defined(__x86_64__)
#define ONCEOVER_TARGET __attribute__((target("avx2,fma,f16c")))
#define ONCEOVER_INTRINSICS
#define ONCEOVER_ISA avx2
#define ONCEOVER_TILE_ROWS 6
#include "cpu/kernels/leaves/table.h"

namespace onceover::kernels {

const Leaves avx2_leaves = avx2::table("avx2");

}  // namespace onceover::kernels
#endif
