#include "cpu/paged_rows.h"

#include <gtest/gtest.h>

#include <map>

#include "support/random.h"

namespace onceover::cpu {
namespace {

using kernels::page_rows;

constexpr int64_t width = 3;
constexpr kernels::PageLayout layout{width, width, KvType::F32, false};

// Row n holds n + mark.
void append(PagedRows& rows, int64_t count, float mark = 0) {
  std::vector<float> fresh;
  for (int64_t i = 0; i < count * width; i++)
    fresh.push_back(static_cast<float>(rows.rows() + i / width) + mark);
  rows.append({fresh.data(), width}, count);
}

float number(const PagedRows& rows, int64_t row) {
  const auto view = rows.view();
  return reinterpret_cast<const float*>(view.part(row / page_rows, 0))[row % page_rows * width + width - 1];
}

void expect_rows(const PagedRows& rows, int64_t first, int64_t end, float mark = 0) {
  for (int64_t row = first; row < end; row++)
    ASSERT_EQ(number(rows, row), static_cast<float>(row) + mark) << "row " << row;
}

class PagedRowsOfWindow : public testing::TestWithParam<int> {};

TEST_P(PagedRowsOfWindow, HoldsWhatTheLastRowsCanSeeAndTakesNoMorePagesThanItSaid) {
  test::FreshRandom random;
  const int window = GetParam();
  PoolRoom room;
  PagePool pool(layout.page_bytes(), room);
  PagedRows rows(pool, layout, window, 0);
  for (int call = 0; call < 300; call++) {
    const int64_t count = random.between(1, call % 10 == 0 ? 200 : 4), before = rows.rows();
    const int64_t used = pool.used_bytes(), allowed = rows.pages_to_take(count, count) * layout.page_bytes();
    append(rows, count);
    ASSERT_LE(pool.used_bytes(), used + allowed);
    ASSERT_EQ(rows.rows(), before + count);
    expect_rows(rows, window == 0 ? 0 : std::max<int64_t>(0, before - window + 1), before + count);
    rows.drop_unseen();
    const int64_t needed = rows.first_needed(rows.rows());
    expect_rows(rows, needed, rows.rows());
    // Nothing but the pages that overlap the rows that are needed.
    const int64_t pages = (rows.rows() + page_rows - 1) / page_rows - needed / page_rows;
    ASSERT_EQ(rows.bytes(), std::max<int64_t>(0, pages) * layout.page_bytes());
    ASSERT_EQ(pool.used_bytes(), rows.bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, PagedRowsOfWindow, testing::Values(0, 1, 2, 7, 64, 65, 100));

TEST(PagedRows, ACopySharesPagesUntilOneIsWritten) {
  PoolRoom room;
  PagePool pool(layout.page_bytes(), room);
  PagedRows rows(pool, layout, 0, 0);
  append(rows, 100);
  PagedRows copy = rows;
  EXPECT_EQ(pool.used_bytes(), 2 * layout.page_bytes());
  EXPECT_EQ(copy.pages_to_take(1, 1), 1);
  append(copy, 1, 0.5F);
  EXPECT_EQ(pool.used_bytes(), 3 * layout.page_bytes());
  append(rows, 1);
  EXPECT_EQ(pool.used_bytes(), 3 * layout.page_bytes());
  expect_rows(rows, 0, 101);
  expect_rows(copy, 0, 100);
  expect_rows(copy, 100, 101, 0.5F);
}

// What a ring drops goes back only when the copy drops it, too.
TEST(PagedRows, AWindowThatSharesItsPagesTakesNoMoreThanItSaid) {
  test::FreshRandom random;
  for (int round = 0; round < 100; round++) {
    PoolRoom room;
    PagePool pool(layout.page_bytes(), room);
    PagedRows rows(pool, layout, static_cast<int>(random.between(1, 200)), random.between(0, 100));
    append(rows, random.between(1, 300));
    rows.drop_unseen();
    PagedRows copy = rows;
    if (random.between(0, 1) == 0) append(copy, random.between(1, 100));
    for (int call = 0; call < 5; call++) {
      const int64_t count = random.between(1, 400), piece = random.between(1, 100), used = pool.used_bytes();
      const int64_t allowed = rows.pages_to_take(count, piece) * layout.page_bytes();
      for (int64_t done = 0; done < count; done += piece) {
        append(rows, std::min(piece, count - done));
        ASSERT_LE(pool.used_bytes(), used + allowed) << "round " << round << ", call " << call;
        rows.drop_unseen();
      }
    }
  }
}

TEST(PagedRows, RowsForgottenAreWrittenAnew) {
  PoolRoom room;
  PagePool pool(layout.page_bytes(), room);
  PagedRows rows(pool, layout, 0, 0);
  append(rows, 200);
  rows.truncate(70);
  EXPECT_EQ(rows.bytes(), 2 * layout.page_bytes());
  append(rows, 10, 0.5F);
  expect_rows(rows, 0, 70);
  expect_rows(rows, 70, 80, 0.5F);
}

TEST(PagedRows, SpareRowsLetAWindowGoBack) {
  PoolRoom room;
  PagePool pool(layout.page_bytes(), room);
  PagedRows rows(pool, layout, 64, 100);
  append(rows, 1000);
  rows.drop_unseen();
  EXPECT_LE(rows.first_row(), rows.first_needed(900));
  EXPECT_GT(rows.first_row(), rows.first_needed(900) - page_rows);
}

TEST(PagePool, KeepsPagesForTheNextTakerUntilTrimmed) {
  PoolRoom room;
  PagePool pool(layout.page_bytes(), room);
  Page first = pool.take();
  std::fill_n(first.get(), layout.page_bytes(), std::byte{7});
  first.reset();
  EXPECT_EQ(pool.used_bytes(), 0);
  EXPECT_EQ(pool.held_bytes(), layout.page_bytes());
  const Page second = pool.take();
  EXPECT_EQ(pool.held_bytes(), layout.page_bytes());
  EXPECT_EQ(*second.get(), std::byte{0});
  pool.trim();
  EXPECT_EQ(pool.held_bytes(), layout.page_bytes());
}

// Slabs double; where there is no room for that, they have one page.
TEST(PagePool, PoolsHoldNoMorePagesThanTheirRoomWhileTheirPagesFit) {
  const int64_t size = layout.page_bytes();
  PoolRoom room{.most = 10 * size};
  PagePool pool(size, room), other(2 * size, room);
  std::vector<Page> pages;
  for (int i = 0; i < 4; i++) pages.push_back(pool.take());
  for (int i = 0; i < 3; i++) pages.push_back(other.take());
  EXPECT_EQ(room.held, 10 * size);
  EXPECT_EQ(pool.held_bytes() + other.held_bytes(), room.held);
  pages.push_back(pool.take());
  EXPECT_EQ(room.held, 11 * size);
  pages.clear();
  pool.trim();
  other.trim();
  EXPECT_EQ(room.held, 0);
}

}  // namespace
}  // namespace onceover::cpu
