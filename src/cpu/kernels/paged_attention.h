// The attention of inference: query rows of several sequences against keys and values in pages.
//
// The equation, masks and shapes are those of attention.h; k_rows of a shape counts every row that the
// sequence ever had, and the pages must hold those that the mask shows. Few query rows (decoding) divide a
// long history into chunks of 8 pages with an online softmax each, put together in order; each chunk is read
// once, in the order of memory, for all heads. Many rows go block by block through all their pages. A row's
// result does not depend on the thread count, on the other calls, nor on the rows beside it in a call of the
// same kind (few or many).
#pragma once
#include <span>

#include "cpu/kernels/attention_shape.h"
#include "cpu/kernels/page.h"
#include "cpu/kernels/view.h"

namespace onceover::kernels {

// Up to so many query rows of a sequence are few.
constexpr int64_t few_query_rows = 8;

// shape.sequences is 1 and shape.first_key null. k's pages are keys; v's may be either, so that one value may
// serve as both. One part of each is one head.
struct PagedCall {
  AttendShape shape;
  Input q;
  PagedView k, v;
  Output y;
};

// Overwrites every y.
void attend_paged(std::span<const PagedCall> calls);

}  // namespace onceover::kernels
