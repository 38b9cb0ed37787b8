// The rows, heads and mask of one attention call. See attention.h.
#pragma once
#include <algorithm>
#include <cstdint>

namespace onceover::kernels {

struct AttendShape {
  int64_t sequences = 1;    // independent, packed one after another
  int64_t q_rows, k_rows;   // rows of each sequence
  int64_t q_offset = 0;     // the key row at which query row 0 stands
  int64_t heads, kv_heads;  // query head h reads key head h / (heads / kv_heads)
  int64_t head_dim, v_head_dim;
  int64_t window = 0;  // exactly this many keys, the row's own included; 0 = all earlier ones
  float scale = 1;
  // [sequences * q_rows] or null: the first key row that a query may see, for padding on the left and for
  // documents packed into one sequence. Within a sequence it never decreases.
  const int32_t* first_key = nullptr;

  // Query row `row` of a sequence sees the key rows first_visible .. end_visible - 1, none if that is empty.
  // Both never decrease with the row.
  int64_t first_visible(int64_t sequence, int64_t row) const {
    int64_t first = window > 0 ? std::max<int64_t>(0, row + q_offset - window + 1) : 0;
    if (first_key) first = std::max<int64_t>(first, first_key[sequence * q_rows + row]);
    return first;
  }
  int64_t end_visible(int64_t row) const { return std::clamp<int64_t>(row + q_offset + 1, 0, k_rows); }
  int64_t group() const { return heads / kv_heads; }
};

}  // namespace onceover::kernels
