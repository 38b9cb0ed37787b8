#include "gguf/damaged_gguf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "base/printable.h"
#include "gguf/gguf_file.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// Reads all of `part`, so that a sanitizer sees a view that leaves the file.
void expect_within(std::span<const std::byte> part, std::span<const std::byte> file) {
  if (part.empty()) return;
  const auto at = part.data() - file.data();
  ASSERT_TRUE(at >= 0 && static_cast<size_t>(at) + part.size() <= file.size());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), file.begin() + at));
}

// Whether the bytes are a file; if so, all of it lies within them.
bool is_accepted(const std::string& bytes) {
  // Of exactly that size, without the NUL that a string ends with.
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> file(copy.get(), bytes.size());
  try {
    const GgufContents contents = parse_gguf(file, "x.gguf");
    for (const auto& [key, value] : contents.metadata) {
      expect_within(std::as_bytes(std::span(key)), file);
      const auto* array = std::get_if<GgufArray>(&value);
      if (array != nullptr) {
        EXPECT_EQ(elements(*array).size(), array->count);
      }
    }
    for (const auto& [name, tensor] : contents.tensors) expect_within(tensor.bytes, file);
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("x.gguf: ")) << message;
    EXPECT_EQ(printable(message, message.size()), message);
    return false;
  }
}

TEST(DamagedGguf, IsRefusedNamingFileSubjectAndReason) {
  const TemporaryFolder folder;
  int accepted = 0;
  for (const DamagedGguf& damaged : damaged_ggufs()) {
    SCOPED_TRACE(damaged.name);
    const auto path = folder / (damaged.name + ".gguf");
    write_bytes(path, damaged.bytes);
    EXPECT_EQ(is_accepted(damaged.bytes), damaged.reason.empty());
    if (damaged.reason.empty()) {
      EXPECT_NO_THROW(GgufFile file(path));
      accepted++;
      continue;
    }
    const std::string error = error_of([&] { GgufFile file(path); });
    EXPECT_TRUE(error.starts_with(path.string() + ": " + damaged.subject)) << error;
    EXPECT_TRUE(contains(error, damaged.reason)) << error;
    EXPECT_LT(error.size(), 500U);
  }
  EXPECT_EQ(accepted, 6);
}

// The last byte of the file belongs to a tensor, so nothing short of it is whole.
TEST(DamagedGguf, EveryTruncationIsRefused) {
  const std::string sound = sound_gguf().file();
  ASSERT_TRUE(is_accepted(sound));
  for (size_t size = 0; size < sound.size(); size++) {
    EXPECT_FALSE(is_accepted(sound.substr(0, size))) << size;
  }
}

TEST(DamagedGguf, ChangedBytesAreRefusedOrStayWithinTheFile) {
  std::mt19937 random(fresh_seed());
  const std::string sound = sound_gguf().file(), header = sound_gguf().header();
  int refused = 0;
  for (int i = 0; i < 20000; i++) {
    std::string bytes = sound;
    for (uint32_t change = random() % 3 + 1; change > 0; change--) {
      bytes[random() % header.size()] = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    }
    refused += is_accepted(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 20000);
}

}  // namespace
}  // namespace onceover
