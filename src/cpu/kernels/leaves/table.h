// The table of one instruction set.
#pragma once
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/leaves/attention_backward.h"
#include "cpu/kernels/leaves/attention_forward.h"
#include "cpu/kernels/leaves/attention_paged.h"
#include "cpu/kernels/leaves/pack_rows.h"
#include "cpu/kernels/leaves/packed.h"
#include "cpu/kernels/leaves/retention.h"
#include "cpu/kernels/leaves/retention_backward.h"
#include "cpu/kernels/leaves/rows.h"

namespace onceover::kernels::ONCEOVER_ISA {

constexpr Leaves table(const char* name) {
  return {.name = name,
          .dot = dot,
          .sum_squares = sum_squares,
          .add_scaled = add_scaled,
          .linear_few = linear_few,
          .group_rows = group_rows,
          .pack_group = pack_group,
          .packed_few = packed_few,
          .packed_scratch = packed_scratch,
          .packed_many = packed_many,
          .norm_forward = norm_forward,
          .norm_backward = norm_backward,
          .rotate = rotate,
          .swiglu_forward = swiglu_forward,
          .swiglu_backward = swiglu_backward,
          .log_sum_exp = log_sum_exp,
          .exp_shifted = exp_shifted,
          .adamw = adamw,
          .attend_forward_scratch = attend_forward_scratch,
          .attend_forward = attend_forward,
          .attend_backward_scratch = attend_backward_scratch,
          .attend_backward = attend_backward,
          .store_page_rows = store_page_rows,
          .attend_paged_scratch = attend_paged_scratch,
          .attend_paged = attend_paged,
          .combine_partials = combine_partials,
          .retain_forward_scratch = retain_forward_scratch,
          .retain_forward = retain_forward,
          .retain_step = retain_step,
          .retain_backward_scratch = retain_backward_scratch,
          .retain_backward = retain_backward};
}

}  // namespace onceover::kernels::ONCEOVER_ISA
