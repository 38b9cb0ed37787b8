#define ONCEOVER_TARGET
#define ONCEOVER_ISA portable
#define ONCEOVER_TILE_ROWS 2
#include "cpu/kernels/leaves/table.h"

namespace onceover::kernels {

const Leaves portable_leaves = portable::table("portable");

}  // namespace onceover::kernels
