#include "cpu/kernels/paged_attention.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "cpu/kernels/buffer.h"
#include "cpu/kernels/leaves.h"
#include "cpu/kernels/threads.h"

namespace onceover::kernels {
namespace {

constexpr int64_t chunk_pages = 8;
// Query rows, of all heads of a group, that share one f32 copy of a page.
constexpr int64_t block_rows = 384;

// The partial results of one call that is read in chunks: [chunks, q_rows, heads, partial_floats].
struct Chunked {
  const PagedCall* call;
  int64_t chunks, first_float;
  int64_t floats_of_chunk() const {
    return call->shape.q_rows * call->shape.heads * partial_floats(call->shape);
  }
};

// Divides calls into items that no thread shares.
class Division {
 public:
  explicit Division(std::span<const PagedCall> calls) {
    for (const PagedCall& call : calls) {
      assert(call.shape.kv_heads > 0 && call.shape.heads % call.shape.kv_heads == 0);
      if (call.shape.q_rows > few_query_rows) {
        add_blocks(call);
      } else if (call.shape.q_rows > 0) {
        add_chunks(call);
      }
    }
    partials_.reserve(partial_floats_);
    for (size_t i = 0; i < items.size(); ++i) {
      if (first_float_[i] >= 0) items[i].partial = partials_.data() + first_float_[i];
    }
  }

  std::vector<PagedItem> items;
  std::vector<Chunked> chunked;
  double operations = 0;

  const float* partials() const { return partials_.data(); }

 private:
  void add(PagedItem item, int64_t first_float) {
    items.push_back(item);
    first_float_.push_back(first_float);
    const AttendShape& s = item.call->shape;
    operations += static_cast<double>((item.end_row - item.first_row) * (item.end_page - item.first_page)) *
                  static_cast<double>(page_rows * (item.end_head - item.first_head) * s.group()) *
                  static_cast<double>(s.head_dim + s.v_head_dim);
  }

  // The pages that rows first_row .. end_row - 1 see.
  static PagedItem item_of(const PagedCall& call, int64_t first_row, int64_t end_row) {
    const int64_t first_page = call.shape.first_visible(0, first_row) / page_rows;
    const int64_t end_page = (call.shape.end_visible(end_row - 1) + page_rows - 1) / page_rows;
    return {&call, 0, call.shape.kv_heads, first_row, end_row, first_page, end_page, nullptr};
  }

  // The last rows see the most keys: they go first, so that no thread is left with a long one.
  void add_blocks(const PagedCall& call) {
    const AttendShape& s = call.shape;
    const int64_t blocks = (s.q_rows * s.group() + block_rows - 1) / block_rows;
    const int64_t rows = (s.q_rows + blocks * 6 - 1) / (blocks * 6) * 6;  // whole register tiles
    for (int64_t first = (s.q_rows - 1) / rows * rows; first >= 0; first -= rows) {
      PagedItem item = item_of(call, first, std::min(first + rows, s.q_rows));
      for (int64_t head = 0; head < s.kv_heads; ++head) {
        item.first_head = head;
        item.end_head = head + 1;
        add(item, -1);
      }
    }
  }

  void add_chunks(const PagedCall& call) {
    const AttendShape& s = call.shape;
    PagedItem item = item_of(call, 0, s.q_rows);
    const int64_t first_chunk = item.first_page / chunk_pages, end_page = item.end_page;
    const int64_t chunks = (end_page - 1) / chunk_pages + 1 - first_chunk;
    // Few chunks are divided by head, too, so that there is work for every thread.
    const int64_t heads = chunks >= 8 ? s.kv_heads : (s.kv_heads + 3) / 4;
    Chunked whole{&call, chunks, partial_floats_};
    for (int64_t c = 0; c < chunks; ++c) {
      item.first_page = std::max(item.first_page, (first_chunk + c) * chunk_pages);
      item.end_page = std::min(end_page, (first_chunk + c + 1) * chunk_pages);
      for (int64_t head = 0; head < s.kv_heads; head += heads) {
        item.first_head = head;
        item.end_head = std::min(head + heads, s.kv_heads);
        add(item, chunks > 1 ? partial_floats_ + c * whole.floats_of_chunk() : -1);
      }
    }
    if (chunks == 1) return;
    chunked.push_back(whole);
    partial_floats_ += chunks * whole.floats_of_chunk();
  }

  std::vector<int64_t> first_float_;  // by item; -1 = none
  int64_t partial_floats_ = 0;
  Buffer partials_;
};

void combine(const Leaves& leaf, const Chunked& c, const float* partials) {
  const AttendShape& s = c.call->shape;
  for (int64_t row = 0; row < s.q_rows; ++row) {
    for (int64_t head = 0; head < s.heads; ++head) {
      leaf.combine_partials(c.chunks, s.v_head_dim,
                            partials + c.first_float + (row * s.heads + head) * partial_floats(s),
                            c.floats_of_chunk(), c.call->y[row] + head * s.v_head_dim);
    }
  }
}

}  // namespace

void attend_paged(std::span<const PagedCall> calls) {
  const Division division(calls);
  const Leaves& leaf = leaves();
  const auto items = std::ssize(division.items), chunked = std::ssize(division.chunked);
  int64_t scratch_floats = 0;
  for (const PagedItem& item : division.items)
    scratch_floats = std::max(scratch_floats, leaf.attend_paged_scratch(item));
  const int threads = threads_for(2 * division.operations, items);
  const ThreadScratch scratch(threads, scratch_floats);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < items; ++i)
      leaf.attend_paged(division.items[static_cast<size_t>(i)], scratch.mine());
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < chunked; ++i)
      combine(leaf, division.chunked[static_cast<size_t>(i)], division.partials());
  }
}

}  // namespace onceover::kernels
