// Hostile headers must be refused before they cost memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "support/child_process.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "weights/damaged_files.h"
#include "weights/safetensors.h"

namespace onceover {
namespace {

constexpr rlim_t budget_bytes = 50 << 20;

// A sanitizer keeps freed memory for a while and maps its own, which no budget could tell apart. Under it the
// files are only opened.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_budget = false;
#else
constexpr bool has_budget = true;
#endif

// Private memory of this process, as RLIMIT_DATA counts it.
rlim_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoull(line.substr(7)) << 10;
  }
  return 0;
}

// Opens `path` in a process that may take 50 MB more and no more: "accepted", or "refused: " and why.
std::string open_on_a_budget(const std::filesystem::path& path) {
  const rlim_t limit = data_bytes() + budget_bytes;
  const rlimit both{limit, limit};
  if (has_budget && setrlimit(RLIMIT_DATA, &both) != 0) return "no limit";
  try {
    Safetensors file(path);
  } catch (const Error& e) {
    return std::string("refused: ") + e.what();
  }
  return "accepted";
}

void expect_refusal(const std::filesystem::path& path) {
  const ChildEnd end = fork_and_wait([&] { return open_on_a_budget(path); });
  EXPECT_EQ(end.exit_code, 0) << end.message;
  EXPECT_TRUE(end.message.starts_with("refused: ")) << end.message;
}

TEST(HostileHeader, CostsLittleMemoryToRefuseWhenTheFileIsSmall) {
  const TemporaryFolder folder;
  for (const auto& damaged : damaged_files()) {
    if (damaged.reason.empty()) continue;
    SCOPED_TRACE(damaged.name);
    write_bytes(folder / "f", damaged.bytes);
    expect_refusal(folder / "f");
  }
}

TEST(HostileHeader, CostsLittleMemoryToRefuseWhenTheHeaderIsLarge) {
  const TemporaryFolder folder;
  constexpr size_t header_bytes = 30'000'000;
  const std::string open = R"({"a":{"dtype":"F32","shape":)";
  const std::pair<std::string, std::string> cases[] = {
      {R"({"__metadata__":)", "["}, {open, "["},         {R"({"a":)", "{"},
      {"{", std::string(1, '\0')},  {open + "[1", ",1"},
  };
  for (const auto& [start, filler] : cases) {
    SCOPED_TRACE(start + filler);
    std::string header = start;
    while (header.size() + filler.size() <= header_bytes) header += filler;
    write_bytes(folder / "f", safetensors_bytes(header, 0));
    expect_refusal(folder / "f");
  }
}

TEST(HostileHeader, CostsLittleMemoryToRefuseALongToken) {
  const TemporaryFolder folder;
  constexpr size_t long_bytes = 90'000'000;
  const std::string shape = R"({"a":{"dtype":"F32","shape":[)", metadata = R"({"__metadata__":{"k":")";
  const std::pair<std::string, std::string> cases[] = {
      {shape + std::string(long_bytes, '1'), "]}}"},      {"{" + std::string(long_bytes, ' '), "x"},
      {"{" + std::string(long_bytes, '\n'), "}"},         {metadata + std::string(long_bytes, 'v'), "\"}}"},
      {metadata + std::string(long_bytes, '\\'), "\"}}"}, {"{\"" + std::string(long_bytes, 'n'), "\":{}}"},
      {"{" + std::string(long_bytes, 't'), "}"},
  };
  for (const auto& [start, end] : cases) {
    SCOPED_TRACE(start.substr(0, 40));
    write_bytes(folder / "f", safetensors_bytes(start + end, 0));
    expect_refusal(folder / "f");
  }
}

TEST(HostileHeader, CostsLittleMemoryToRefuseMuchMetadata) {
  const TemporaryFolder folder;
  std::string header = R"({"__metadata__":{"first":"")";
  for (int i = 0; i < 90; i++) header += fmt::format(R"(,"{}":"{}")", i, std::string(1'000'000, 'v'));
  write_bytes(folder / "f", safetensors_bytes(header + "}}", 0));
  expect_refusal(folder / "f");
}

TEST(LargeHeader, OfAMillionTensorsIsRead) {
  constexpr int count = 1'000'000;
  std::string header = "{";
  for (int i = 0; i < count; i++) {
    if (i > 0) header += ',';
    header += tensor_json(fmt::format("t{}", (i * 7919LL) % count), "U8", "0", "0,0");
  }
  const std::string bytes = safetensors_bytes(header + "}", 0);
  EXPECT_EQ(parse_safetensors(std::as_bytes(std::span(bytes)), "x").tensors.size(), size_t{count});
}

TEST(PaddedHeader, CostsNoMemoryForItsPadding) {
  const TemporaryFolder folder;
  write_bytes(folder / "f", safetensors_bytes("{}" + std::string(30'000'000, ' '), 0));
  EXPECT_EQ(fork_and_wait([&] { return open_on_a_budget(folder / "f"); }).message, "accepted");
}

TEST(HostileHeader, IsNotLookedAtWhenLongerThanAllowed) {
  const TemporaryFolder folder;
  {
    std::ofstream file(folder / "f", std::ios::binary);
    file << safetensors_bytes("{", 0, 100'000'001);
  }
  std::filesystem::resize_file(folder / "f", uint64_t{4} << 30);  // sparse
  const std::string error = error_of([&] { Safetensors file(folder / "f"); });
  EXPECT_TRUE(contains(error, "header of 100000001 bytes, at most 100000000 allowed")) << error;
}

}  // namespace
}  // namespace onceover
