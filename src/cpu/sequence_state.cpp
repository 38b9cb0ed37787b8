#include "cpu/sequence_state.h"

#include <algorithm>

#include "base/error.h"

namespace onceover::cpu {

PagePool& PagePools::of(int64_t page_bytes) {
  return pools_.try_emplace(page_bytes, page_bytes, *room_).first->second;
}

int64_t PagePools::used_bytes() const {
  int64_t sum = 0;
  for (const auto& [size, pool] : pools_) sum += pool.used_bytes();
  return sum;
}

int64_t PagePools::held_bytes() const {
  int64_t sum = 0;
  for (const auto& [size, pool] : pools_) sum += pool.held_bytes();
  return sum;
}

void PagePools::trim() {
  for (auto& [size, pool] : pools_) pool.trim();
}

namespace {

constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));

}  // namespace

SequenceState::SequenceState(const DepthPlan& plan, PagePools& pools, int64_t spare_rows) : plan_(&plan) {
  for (size_t i = 0; i < plan.analysis.slots.size(); i++) {
    const Slot& slot = plan.analysis.slots[i];
    if (slot.keep.kind == Retention::Kind::Matrix) {
      slots_.emplace_back(Matrix(static_cast<size_t>(slot.width)));
    } else {
      const auto& layout = plan.layouts[i];
      slots_.emplace_back(PagedRows(pools.of(layout.page_bytes()), layout, slot.keep.window, spare_rows));
    }
  }
}

void SequenceState::advance(int64_t count) {
  tokens_ += count;
  for (auto& slot : slots_) {
    if (auto* rows = std::get_if<PagedRows>(&slot)) rows->drop_unseen();
  }
}

void SequenceState::append_zeros(int64_t count) {
  for (size_t i = 0; i < slots_.size(); i++) {
    auto* rows = std::get_if<PagedRows>(&slots_[i]);
    if (!rows) continue;
    const std::vector<float> zeros(static_cast<size_t>(plan_->analysis.slots[i].width));
    rows->append({zeros.data(), 0}, count);
  }
  advance(count);
}

void SequenceState::truncate(int64_t tokens) {
  if (tokens < 0 || tokens > tokens_)
    throw Error("cannot go back to {} tokens: the sequence has {}", tokens, tokens_);
  if (tokens == tokens_) return;
  if (tokens == 0) {
    restart(0);
    return;
  }
  for (size_t i = 0; i < slots_.size(); i++) {
    const ValueId value = plan_->analysis.slots[i].value;
    const auto* rows = std::get_if<PagedRows>(&slots_[i]);
    if (!rows) {
      throw Error(
          "cannot go back from {} to {} tokens: the retention matrix of {} holds every token in one sum",
          tokens_, tokens, place_of(plan_->plan, value));
    }
    if (rows->first_needed(tokens) < rows->first_row()) {
      throw Error(
          "cannot go back from {} to {} tokens: the window of {} needs row {}, the first still held is {}",
          tokens_, tokens, place_of(plan_->plan, value), rows->first_needed(tokens), rows->first_row());
    }
  }
  for (auto& slot : slots_) std::get<PagedRows>(slot).truncate(tokens);
  tokens_ = tokens;
}

std::vector<int64_t> SequenceState::slot_bytes() const {
  std::vector<int64_t> bytes;
  for (const auto& slot : slots_) {
    const auto* rows = std::get_if<PagedRows>(&slot);
    bytes.push_back(rows ? rows->bytes() : std::ssize(std::get<Matrix>(slot)) * float_bytes);
  }
  return bytes;
}

int64_t SequenceState::matrix_bytes() const {
  int64_t sum = 0;
  for (const auto& slot : slots_) {
    if (const auto* matrix = std::get_if<Matrix>(&slot)) sum += std::ssize(*matrix) * float_bytes;
  }
  return sum;
}

int64_t SequenceState::bytes_to_take(int64_t count, int64_t piece) const {
  int64_t sum = 0;
  for (size_t i = 0; i < slots_.size(); i++) {
    if (const auto* rows = std::get_if<PagedRows>(&slots_[i]))
      sum += rows->pages_to_take(count, piece) * plan_->layouts[i].page_bytes();
  }
  return sum;
}

std::vector<std::span<const std::byte>> SequenceState::stored() const {
  std::vector<std::span<const std::byte>> all;
  for (const auto& slot : slots_) {
    if (const auto* rows = std::get_if<PagedRows>(&slot)) {
      for (const auto page : rows->needed_pages()) all.push_back(page);
    } else {
      all.push_back(std::as_bytes(std::span(std::get<Matrix>(slot))));
    }
  }
  return all;
}

int64_t SequenceState::stored_bytes(int64_t tokens) const {
  int64_t sum = matrix_bytes();
  for (size_t i = 0; i < slots_.size(); i++) {
    const auto* rows = std::get_if<PagedRows>(&slots_[i]);
    if (rows) sum += rows->needed_page_count(tokens) * plan_->layouts[i].page_bytes();
  }
  return sum;
}

std::vector<std::span<std::byte>> SequenceState::restart(int64_t tokens) {
  std::vector<std::span<std::byte>> all;
  for (auto& slot : slots_) {
    if (auto* rows = std::get_if<PagedRows>(&slot)) {
      for (const auto page : rows->restart(tokens)) all.push_back(page);
    } else {
      auto& matrix = std::get<Matrix>(slot);
      std::fill(matrix.begin(), matrix.end(), 0.0F);
      all.push_back(std::as_writable_bytes(std::span(matrix)));
    }
  }
  tokens_ = tokens;
  return all;
}

}  // namespace onceover::cpu
