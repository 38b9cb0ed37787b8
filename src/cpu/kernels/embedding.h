// Rows of a table by token. table [vocabulary, width], y [rows, width]. Token ids must lie in the table: the
// caller checks.
//
// Threads: forward by rows, backward by columns with the rows in order, so that a token met twice sums the
// same way always.
#pragma once
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct EmbedShape {
  int64_t rows, width;
  float scale = 1;
};

// y = scale * table[token]
void embed_forward(const EmbedShape&, const int32_t* tokens, Input table, Output y);

// dtable[token] += scale * dy
void embed_backward(const EmbedShape&, const int32_t* tokens, Input dy, Output dtable);

}  // namespace onceover::kernels
