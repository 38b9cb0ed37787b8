#include "gguf/gguf_tensor.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/printable.h"
#include "base/text.h"

namespace onceover {
namespace {

constexpr uint32_t max_dims = 4;
constexpr size_t max_name_bytes = 64;

// A tensor and its place in the data.
struct Entry {
  std::string_view name;
  GgufTensor tensor;
  uint64_t begin, end;
};

std::string subject_of(std::string_view name) { return fmt::format("tensor '{}'", printable(name)); }

std::string_view read_name(GgufCursor& cursor, uint64_t index) {
  cursor.set_subject(fmt::format("tensor {}", index));
  const std::string_view name = cursor.string();
  cursor.set_subject(subject_of(name));
  if (name.size() > max_name_bytes) cursor.refuse("name longer than {} bytes", max_name_bytes);
  return name;
}

std::vector<int64_t> read_dims(GgufCursor& cursor) {
  const auto count = cursor.number<uint32_t>();
  if (count > max_dims) cursor.refuse("{} dims, at most {} allowed", count, max_dims);
  std::vector<int64_t> dims;
  for (uint32_t i = 0; i < count; i++) {
    const auto dim = cursor.number<uint64_t>();
    if (!std::in_range<int64_t>(dim)) cursor.refuse("dim {} is too large", dim);
    dims.push_back(static_cast<int64_t>(dim));
  }
  return dims;
}

GgmlType read_type(GgufCursor& cursor) {
  const auto number = cursor.number<uint32_t>();
  const auto type = ggml_type_from_number(number);
  if (!type) cursor.refuse("unknown tensor type {}", number);
  return *type;
}

uint64_t bytes_of(const GgufTensor& tensor, const GgufCursor& cursor) {
  const int64_t block = block_elements(tensor.type);
  if (tensor.row_elements() % block != 0) {
    cursor.refuse("rows of {} elements, but {} holds them in blocks of {}", tensor.row_elements(),
                  ggml_type_name(tensor.type), block);
  }
  // Over the dims that are not 0, so that the product of any of them fits too.
  int64_t elements = 1, bytes;
  bool empty = false, overflow = false;
  for (int64_t dim : tensor.dims) {
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(elements, std::max<int64_t>(dim, 1), &elements);
  }
  overflow |= __builtin_mul_overflow(elements / block, block_bytes(tensor.type), &bytes);
  if (overflow)
    cursor.refuse("dims {} of {} are larger than any file", shape_text(tensor.dims),
                  ggml_type_name(tensor.type));
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

Entry read_entry(GgufCursor& cursor, uint64_t index, uint64_t alignment) {
  Entry entry{read_name(cursor, index), {}, 0, 0};
  entry.tensor.dims = read_dims(cursor);
  entry.tensor.type = read_type(cursor);
  const uint64_t bytes = bytes_of(entry.tensor, cursor);
  entry.begin = cursor.number<uint64_t>();
  if (entry.begin % alignment != 0) {
    cursor.refuse("offset {} is no multiple of the alignment {}", entry.begin, alignment);
  }
  if (__builtin_add_overflow(entry.begin, bytes, &entry.end)) {
    cursor.refuse("offset {} and {} bytes are more than any file holds", entry.begin, bytes);
  }
  return entry;
}

// The data of the file; empty when the file ends before it begins, as one without tensors may.
std::span<const std::byte> data_of(std::span<const std::byte> file, uint64_t header_end, uint64_t alignment) {
  const uint64_t begin = (header_end + alignment - 1) / alignment * alignment;
  return file.subspan(std::min<uint64_t>(begin, file.size()));
}

void require_apart(std::vector<Entry>& entries, GgufCursor& cursor) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (entry.begin == entry.end) continue;
    if (before != nullptr && entry.begin < before->end) {
      cursor.set_subject(subject_of(entry.name));
      cursor.refuse("begins at byte {} of the data and overlaps {}, which ends at {}", entry.begin,
                    subject_of(before->name), before->end);
    }
    before = &entry;
  }
}

}  // namespace

int64_t GgufTensor::rows() const {
  if (dims.empty()) return 1;
  return std::accumulate(dims.begin() + 1, dims.end(), int64_t{1}, std::multiplies<>());
}

GgufTensors read_tensors(GgufCursor& cursor, std::span<const std::byte> file, uint64_t count,
                         uint64_t alignment) {
  std::vector<Entry> entries;
  entries.reserve(count);
  for (uint64_t i = 0; i < count; i++) entries.push_back(read_entry(cursor, i, alignment));
  const auto data = data_of(file, cursor.position(), alignment);
  require_apart(entries, cursor);
  GgufTensors tensors;
  for (Entry& entry : entries) {
    cursor.set_subject(subject_of(entry.name));
    if (entry.end > data.size()) {
      cursor.refuse("ends at byte {} of the data, but the file holds {} (cut short?)", entry.end,
                    data.size());
    }
    entry.tensor.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    if (!tensors.emplace(entry.name, std::move(entry.tensor)).second) cursor.refuse("occurs twice");
  }
  return tensors;
}

}  // namespace onceover
