#include "cpu/page_pool.h"

#include <algorithm>
#include <cstring>

namespace onceover::cpu {
namespace {

constexpr int64_t largest_slab = 16 << 20;

}  // namespace

Page::~Page() {
  if (pool_ && --*at_.holders == 0) pool_->give_back(at_);
}

Page PagePool::take() {
  if (free_.empty()) add_slab();
  const Page::Place page = free_.back();
  free_.pop_back();
  std::memset(page.bytes, 0, static_cast<size_t>(page_bytes_));
  ++used_;
  ++page.slab->used;
  *page.holders = 1;
  return {this, page};
}

void PagePool::add_slab() {
  const int64_t held = held_bytes() / page_bytes_;
  const int64_t most = std::min(largest_slab, room_->most - room_->held) / page_bytes_;
  const int64_t pages = std::max<int64_t>(1, std::min(held, most));
  free_.reserve(static_cast<size_t>(held + pages));  // so that giving back cannot fail
  auto& slab = *slabs_.emplace_back(std::make_unique<Page::Slab>());
  slab.bytes = pages * page_bytes_;
  slab.holders.resize(static_cast<size_t>(pages));
  auto* bytes = reinterpret_cast<std::byte*>(slab.memory.reserve((slab.bytes + 3) / 4));
  room_->held += slab.bytes;
  for (int64_t i = pages - 1; i >= 0; --i)
    free_.push_back({bytes + i * page_bytes_, &slab, slab.holders.data() + i});
}

void PagePool::give_back(const Page::Place& page) {
  free_.push_back(page);
  --page.slab->used;
  --used_;
}

void PagePool::trim() {
  std::erase_if(free_, [](const Page::Place& page) { return page.slab->used == 0; });
  std::erase_if(slabs_, [this](const auto& slab) {
    if (slab->used == 0) room_->held -= slab->bytes;
    return slab->used == 0;
  });
}

}  // namespace onceover::cpu
