// The attention of inference on pages, against attention by its definition on the numbers that the pages
// hold.
#include "cpu/kernels/paged_attention.h"

#include <cstring>

#include "cpu/plain_attention.h"
#include "cpu/support.h"
#include "weights/dtype.h"

namespace onceover::kernels {
namespace {

// What a row of one part becomes by being stored, by the words of page.h.
void round_part(KvType type, float* x, int64_t part) {
  if (type == KvType::F16) {
    for (int64_t j = 0; j < part; ++j) x[j] = f16_to_f32(f32_to_f16(x[j]));
  }
  for (int64_t first = 0; type == KvType::Q8 && first < part; first += scale_columns) {
    const int64_t end = std::min(first + scale_columns, part);
    float most = 0;
    for (int64_t j = first; j < end; ++j) most = std::max(most, std::abs(x[j]));
    for (int64_t j = first; j < end; ++j) x[j] = std::nearbyint(x[j] * (127 / most)) * (most / 127);
  }
}

void round_rows(KvType type, Matrix& m, int64_t part) {
  for (int64_t r = 0; r < m.rows; ++r) {
    for (int64_t c = 0; c < m.columns; c += part) round_part(type, &m.at(r, c), part);
  }
}

struct Pages {
  PageLayout layout;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<const std::byte*> address;

  // Numbers where no row was written are not a number: nobody may look at them.
  Pages(const PageLayout& l, const Matrix& rows) : layout(l) {
    for (int64_t first = 0; first < rows.rows; first += page_rows) {
      auto& page = bytes.emplace_back(static_cast<size_t>(l.page_bytes()), std::byte{0xFF});
      leaves().store_page_rows(l, page.data(), 0, std::min(page_rows, rows.rows - first),
                               {rows.view()[first], rows.stride});
    }
    for (const auto& page : bytes) address.push_back(page.data());
  }
  PagedView view() const { return {layout, address.data(), 0}; }
};

AttendShape shape_of(int64_t q_rows, int64_t k_rows, int64_t heads, int64_t kv_heads, int64_t head_dim,
                     int64_t v_head_dim, int64_t window) {
  AttendShape s{};
  s.q_rows = q_rows;
  s.k_rows = k_rows;
  s.q_offset = k_rows - q_rows;
  s.heads = heads;
  s.kv_heads = kv_heads;
  s.head_dim = head_dim;
  s.v_head_dim = v_head_dim;
  s.window = window;
  s.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)));
  return s;
}

struct Problem {
  AttendShape s;
  Matrix q, k, v, y;
  Pages k_pages, v_pages;

  Problem(const AttendShape& shape, KvType type)
      : s(shape),
        q(s.q_rows, s.heads * s.head_dim),
        k(s.k_rows, s.kv_heads * s.head_dim),
        v(s.k_rows, s.kv_heads * s.v_head_dim),
        y(s.q_rows, s.heads * s.v_head_dim),
        k_pages({k.columns, s.head_dim, type, true}, k),
        v_pages({v.columns, s.v_head_dim, type, false}, v) {
    round_rows(type, k, s.head_dim);
    round_rows(type, v, s.v_head_dim);
  }
  PagedCall call() { return {s, q.view(), k_pages.view(), v_pages.view(), y.view()}; }
  Doubles expected() const { return plain_attention(s, {q.dense(), k.dense(), v.dense()}); }
};

constexpr KvType types[] = {KvType::F32, KvType::F16, KvType::Q8};
constexpr double tolerance = 2e-5;

void check(const AttendShape& s) {
  SCOPED_TRACE(testing::Message() << "q_rows " << s.q_rows << " k_rows " << s.k_rows << " heads " << s.heads
                                  << "/" << s.kv_heads << " head_dim " << s.head_dim << "/" << s.v_head_dim
                                  << " window " << s.window);
  for (const KvType type : types) {
    Problem p(s, type);
    const PagedCall call = p.call();
    attend_paged({&call, 1});
    SCOPED_TRACE(static_cast<int>(type));
    EXPECT_CLOSE(p.y.dense(), p.expected(), tolerance);
  }
}

TEST(PagedAttention, EqualsItsDefinition) {
  for_each_table([] {
    for (const int64_t q_rows : {1, 3, 8, 9, 70, 130}) {
      for (const int64_t past : {0, 1, 63, 64, 700}) {
        check(shape_of(q_rows, past + q_rows, 6, 2, 16, 16, 0));
        check(shape_of(q_rows, past + q_rows, 3, 3, 8, 12, 70));
      }
    }
  });
}

TEST(PagedAttention, EqualsItsDefinitionForManySizesOfHeads) {
  for_each_table([] {
    for (const int64_t size : {1, 4, 31, 33, 64, 80, 128}) {
      check(shape_of(1, 150, 5, 1, size, size, 0));
      check(shape_of(12, 90, 2, 2, size, 48, 33));
    }
  });
}

TEST(PagedAttention, WindowsAtThePagesBordersShowExactlyTheirKeys) {
  for_each_table([] {
    for (const int64_t window : {1, 2, 63, 64, 65, 128}) {
      for (const int64_t k_rows : {63, 64, 65, 128, 129}) check(shape_of(2, k_rows, 2, 1, 8, 8, window));
    }
  });
}

// The chunks of a long history are put together from the pages' order alone.
TEST(PagedAttention, LongHistoriesEqualTheirDefinition) {
  for_each_table([] {
    check(shape_of(1, 8 * 512 + 70, 4, 4, 16, 16, 0));
    check(shape_of(5, 2000, 4, 1, 16, 16, 1300));
  });
}

TEST(PagedAttention, OneValueServesAsKeysAndValues) {
  for_each_table([] {
    for (const KvType type : types) {
      Problem p(shape_of(3, 100, 4, 2, 24, 24, 0), type);
      PagedCall call = p.call();
      call.v = call.k;
      attend_paged({&call, 1});
      EXPECT_CLOSE(p.y.dense(), plain_attention(p.s, {p.q.dense(), p.k.dense(), p.k.dense()}), tolerance);
    }
  });
}

bool same_bits(const Matrix& a, int64_t row_a, const Matrix& b, int64_t row_b) {
  return std::memcmp(a.view()[row_a], b.view()[row_b], sizeof(float) * static_cast<size_t>(a.columns)) == 0;
}

// Rows first .. first + count - 1 of a problem, alone.
Matrix rows_alone(Problem& p, int64_t first, int64_t count) {
  Matrix y(count, p.y.columns);
  PagedCall call = p.call();
  call.shape.q_rows = count;
  call.shape.q_offset += first;
  call.q = {call.q[first], call.q.stride};
  call.y = y.view();
  attend_paged({&call, 1});
  return y;
}

TEST(PagedAttention, ARowsBitsDoNotDependOnTheRowsBesideIt) {
  for_each_table([] {
    for (const int64_t window : {0, 100}) {
      Problem few(shape_of(7, 1300, 4, 2, 16, 16, window), KvType::F16);
      const Matrix together = rows_alone(few, 0, 7);
      for (int64_t row = 0; row < 7; ++row) {
        EXPECT_TRUE(same_bits(together, row, rows_alone(few, row, 1), 0))
            << "window " << window << " row " << row;
      }
      Problem many(shape_of(200, 300, 4, 2, 16, 16, window), KvType::F16);
      const Matrix all = rows_alone(many, 0, 200);
      const Matrix part = rows_alone(many, 90, 50);
      for (int64_t row = 0; row < 50; ++row)
        EXPECT_TRUE(same_bits(all, 90 + row, part, row)) << "window " << window << " row " << row;
    }
  });
}

TEST(PagedAttention, BitsDependNeitherOnOtherCallsNorOnThreads) {
  Problem a(shape_of(1, 900, 4, 2, 16, 16, 0), KvType::Q8),
      b(shape_of(40, 600, 4, 2, 16, 16, 0), KvType::F32);
  const int usual = omp_get_max_threads();
  omp_set_num_threads(1);
  const Matrix a_alone = rows_alone(a, 0, 1), b_alone = rows_alone(b, 0, 40);
  omp_set_num_threads(2);
  const PagedCall calls[] = {b.call(), a.call()};
  attend_paged(calls);
  omp_set_num_threads(usual);
  EXPECT_TRUE(same_bits(a.y, 0, a_alone, 0));
  for (int64_t row = 0; row < 40; ++row) EXPECT_TRUE(same_bits(b.y, row, b_alone, row));
}

TEST(PagedAttention, ANumberThatIsNotFiniteShowsInEveryType) {
  for (const KvType type : types) {
    Matrix rows(1, 40);
    rows.at(0, 3) = INFINITY;
    const Pages pages({40, 40, type, false}, rows);
    Matrix q(1, 40), y(1, 40);
    const Pages keys({40, 40, type, true}, q);
    const PagedCall call{shape_of(1, 1, 1, 1, 40, 40, 0), q.view(), keys.view(), pages.view(), y.view()};
    attend_paged({&call, 1});
    EXPECT_FALSE(std::isfinite(y.at(0, 3)));
    EXPECT_TRUE(std::isfinite(y.at(0, 39)));
  }
}

// Rows beside it in the same call, and those whose window it has left, are as if it were not there.
TEST(PagedAttention, AValueThatIsNotFiniteShowsInTheRowsThatSeeItAlone) {
  for_each_table([] {
    for (const KvType type : types) {
      for (const int64_t q_rows : {2, 5, 40, 130}) {  // pages read as they are stored, and widened
        for (const int64_t window : {0, 3, 20}) {
          const AttendShape s = shape_of(q_rows, 70 + q_rows, 4, 2, 16, 16, window);
          Problem p(s, type);
          const Doubles expected = p.expected();
          const int64_t bad = s.q_offset + q_rows / 2, last = window == 0 ? s.k_rows : bad + window - 1;
          Matrix poisoned = p.v;
          for (int64_t c = 0; c < poisoned.columns; ++c) poisoned.at(bad, c) = NAN;
          p.v_pages = Pages(p.v_pages.layout, poisoned);
          const PagedCall call = p.call();
          attend_paged({&call, 1});
          for (int64_t row = 0; row < q_rows; ++row) {
            const int64_t place = s.q_offset + row;
            const bool sees = place >= bad && place <= last;
            for (int64_t c = 0; c < p.y.columns; ++c) {
              const double want = expected[static_cast<size_t>(row * p.y.columns + c)];
              ASSERT_TRUE(sees ? std::isnan(p.y.at(row, c)) : std::abs(p.y.at(row, c) - want) < 1e-4)
                  << "row " << row << " of " << q_rows << ", window " << window << ": " << p.y.at(row, c);
            }
          }
        }
      }
    }
  });
}

TEST(PagedAttention, AKeyThatIsNotFiniteShowsAtAnyDepth) {
  for (const KvType type : types) {
    for (const int64_t depth : {1, 64, 513, 2000}) {  // in one chunk and in several
      Matrix rows(depth, 32);
      rows.at(depth / 2, 7) = NAN;
      const Pages keys({32, 32, type, true}, rows), values({32, 32, type, false}, Matrix(depth, 32));
      Matrix q(1, 32), y(1, 32);
      q.at(0, 7) = 1;
      const PagedCall call{shape_of(1, depth, 1, 1, 32, 32, 0), q.view(), keys.view(), values.view(),
                           y.view()};
      attend_paged({&call, 1});
      EXPECT_TRUE(std::isnan(y.at(0, 3))) << depth;
    }
  }
}

}  // namespace
}  // namespace onceover::kernels
