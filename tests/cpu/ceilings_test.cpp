#include "cpu/ceilings.h"

#include <gtest/gtest.h>

#include "cpu/trainer.h"
#include "support/models.h"
#include "support/training.h"

namespace onceover::cpu {
namespace {

TEST(FmaPeak, IsThatOfACoreAndATrainerHasOneForEachThread) {
  const double core = fma_peak(1);
  EXPECT_GT(core, 1e8);
  EXPECT_LT(core, 1e12);
  const auto model = test::tiny_model("small", test::tiny_config("yoco-u"));
  const double two = Trainer(test::plans_of(model), {.threads = 2}).peak_flops();
  EXPECT_GT(two, 0.5 * core);
  EXPECT_LT(two, 8 * core);
}

}  // namespace
}  // namespace onceover::cpu
