// A page: 64 rows of one key or value, as the attention of inference reads them.
//
// The columns of a row fall into parts, one for each head. The parts follow one another; each holds its
// numbers, then its scales (Q8 alone):
//
//   keys    numbers [part, 64]: a column of 64 rows lies together, so that scores come 8 keys at a time
//           scales  [blocks, 64] f32
//   values  numbers [64, part]
//           scales  [64, blocks] f32
//
// Q8 is int8 with one scale for each 32 columns of a part (the last block may be shorter): x = number *
// scale, scale = largest |x| / 127. A block with a number that is not finite is NaN.
#pragma once
#include <cstddef>
#include <cstdint>

namespace onceover {

// How keys and values are stored.
enum class KvType : uint8_t { F32, F16, Q8 };

namespace kernels {

constexpr int64_t page_rows = 64;
constexpr int64_t scale_columns = 32;

struct PageLayout {
  int64_t width = 0, part = 1;  // columns; part divides width
  KvType type = KvType::F32;
  bool is_key = false;

  int64_t parts() const { return width / part; }
  int64_t blocks() const { return type == KvType::Q8 ? (part + scale_columns - 1) / scale_columns : 0; }
  int64_t number_bytes() const { return type == KvType::F32 ? 4 : type == KvType::F16 ? 2 : 1; }
  int64_t part_bytes() const { return page_rows * (part * number_bytes() + blocks() * 4); }
  int64_t page_bytes() const { return parts() * part_bytes(); }
};

// Pages by number: page n holds rows 64 n to 64 n + 63.
struct PagedView {
  PageLayout layout;
  const std::byte* const* pages = nullptr;  // of the pages from first_page on
  int64_t first_page = 0;

  const std::byte* part(int64_t page, int64_t index) const {
    return pages[page - first_page] + index * layout.part_bytes();
  }
};

}  // namespace kernels
}  // namespace onceover
