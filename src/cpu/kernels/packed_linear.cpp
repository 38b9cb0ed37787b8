#include "cpu/kernels/packed_linear.h"

#include <algorithm>

#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

// Groups of rows that share an unpacked slice of weights.
constexpr int64_t groups_at_once = 40;

// Panels of a piece of work, when there are many rows: few enough that threads end together.
constexpr int64_t panels_at_once = 8;

double operations(int64_t rows, const PackedMatrix& w) {
  return static_cast<double>(rows * w.outputs) * static_cast<double>(w.inputs);
}

void pack_rows(const Leaves& leaf, const PackedMatrix& w, Input x, const PackedRows& to) {
  const int threads = threads_for(static_cast<double>(to.rows() * w.inputs) * 4, to.groups());
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t g = 0; g < to.groups(); ++g) {
    const Input rows{x[g * to.group_rows()], x.stride};
    for (int64_t slice = 0; slice < to.slices(); ++slice)
      leaf.pack_group(w.format, rows.columns(slice * slice_inputs), to.group(g, slice));
  }
}

void few(const Leaves& leaf, const PackedMatrix& w, const PackedRows& x, Output y) {
  const int64_t panels = w.panels(), groups = x.groups();
  const int64_t at_once = groups == 1 ? panels : 1;  // panels that one group reads before the next does
  const int threads = threads_for(operations(x.rows(), w), panels);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int64_t part = 0; part < threads; ++part) {
    const int64_t end = panels * (part + 1) / threads;
    for (int64_t first = panels * part / threads; first < end; first += at_once) {
      const int64_t count = std::min(at_once, end - first);
      for (int64_t g = 0; g < groups; ++g)
        leaf.packed_few(w, first, count, x.group(g, 0), {y[g * x.group_rows()], y.stride});
    }
  }
}

void many(const Leaves& leaf, const PackedMatrix& w, const PackedRows& x, Output y) {
  const int64_t row_blocks = (x.groups() + groups_at_once - 1) / groups_at_once;
  const int64_t panel_blocks = (w.panels() + panels_at_once - 1) / panels_at_once;
  const int threads = threads_for(operations(x.rows(), w), row_blocks * panel_blocks);
  const ThreadScratch scratch(threads, leaf.packed_scratch());
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t item = 0; item < row_blocks * panel_blocks; ++item) {
      const int64_t block = item / panel_blocks, panel = item % panel_blocks * panels_at_once;
      const int64_t first = x.groups() * block / row_blocks, end = x.groups() * (block + 1) / row_blocks;
      leaf.packed_many(w, panel, std::min(panels_at_once, w.panels() - panel), x, first, end - first, y,
                       scratch.mine());
    }
  }
}

}  // namespace

void packed_linear(int64_t rows, Input x, const PackedMatrix& w, Output y) {
  if (rows == 0 || w.outputs == 0) return;
  const Leaves& leaf = leaves();
  thread_local PackedRows packed;
  packed.reserve(w.format, rows, w.inputs);
  pack_rows(leaf, w, x, packed);
  if (packed.are_few()) return few(leaf, w, packed, y);
  many(leaf, w, packed, y);
}

}  // namespace onceover::kernels
