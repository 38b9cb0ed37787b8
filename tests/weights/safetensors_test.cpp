#include "weights/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"
#include "weights/damaged_files.h"

namespace onceover {
namespace {

SafetensorsContents parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "x.safetensors");
}

std::string refusal(const std::string& header, size_t data_bytes) {
  return error_of([&] { parse(safetensors_bytes(header, data_bytes)); });
}

TEST(Safetensors, RefusesEveryDamagedFileNamingFileTensorAndReason) {
  const TemporaryFolder folder;
  int accepted = 0, refused = 0;
  for (const auto& damaged : damaged_files()) {
    SCOPED_TRACE(damaged.name);
    const auto path = folder / (damaged.name + ".safetensors");
    write_bytes(path, damaged.bytes);
    if (damaged.reason.empty()) {
      EXPECT_NO_THROW(Safetensors file(path));
      accepted++;
      continue;
    }
    const std::string error = error_of([&] { Safetensors file(path); });
    EXPECT_TRUE(error.starts_with(path.string() + ": ")) << error;
    EXPECT_TRUE(contains(error, damaged.reason)) << error;
    if (!damaged.tensor.empty()) {
      EXPECT_TRUE(contains(error, fmt::format("'{}'", damaged.tensor))) << error;
    }
    EXPECT_LT(error.size(), 500U);
    refused++;
  }
  EXPECT_EQ(accepted, 5);
  EXPECT_EQ(refused, 16);
}

TEST(Safetensors, GivesShapesAndBytesOfASoundFile) {
  auto bytes = damaged_files()[0].bytes;
  bytes[bytes.size() - 1] = 0x40;  // b[1] = 2.0
  const auto contents = parse(bytes);
  ASSERT_EQ(contents.tensors.size(), 2U);
  const TensorView& b = contents.tensors.at("b");
  EXPECT_EQ(b.shape, std::vector<int64_t>{2});
  EXPECT_EQ(to_f32(b), (std::vector<float>{0, 2}));
  EXPECT_EQ(contents.tensors.at("a").shape, (std::vector<int64_t>{2, 2}));
}

TEST(Safetensors, GivesScalarsEmptyTensorsAndMetadata) {
  const auto header =
      R"({"__metadata__":{"format":"pt"},"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
      R"("z":{"dtype":"I64","shape":[3,0],"data_offsets":[4,4]},)"
      R"("t":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  const auto bytes = safetensors_bytes(header, 6);
  const auto contents = parse(bytes);
  EXPECT_EQ(contents.metadata.at("format"), "pt");
  EXPECT_EQ(contents.tensors.at("s").elements(), 1U);
  EXPECT_EQ(contents.tensors.at("z").elements(), 0U);
  EXPECT_EQ(contents.tensors.at("t").elements(), 2U);
}

TEST(Safetensors, RefusesHeadersThatBendTheFormat) {
  const struct {
    const char* header;
    size_t data_bytes;
    const char* reason;
  } cases[] = {
      {R"({"a":1})", 0,
       "tensor 'a': expected an object with dtype, shape and data_offsets, found the number 1"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "tensor 'a': data_offsets is missing"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "tensor 'a': dtype is missing"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "tensor 'a': shape is missing"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", 4, "tensor 'a': key 'dtype' occurs twice"},
      {R"({"a":{"dtype":"F32","note":"x"}})", 4, "tensor 'a': unknown key 'note'"},
      {R"({"a":{"dtype":3}})", 4, "tensor 'a': expected a string as dtype, found the number 3"},
      {R"({"a":{"dtype":"F32","shape":[1.5]}})", 4,
       "expected a shape of non-negative integers, found the number 1.5"},
      {R"({"a":{"dtype":"F32","shape":[-1]}})", 4, "found the negative number -1"},
      {R"({"a":{"dtype":"F32","shape":["1"]}})", 4, "found the string '1'"},
      {R"({"a":{"dtype":"F32","shape":[[1]]}})", 4, "found an array"},
      {R"({"a":{"dtype":"F32","shape":[null]}})", 4, "found null"},
      {R"({"a":{"dtype":"F32","shape":[true]}})", 4, "found a boolean"},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775808]}})", 4, "extent 9223372036854775808"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551616]}})", 4, "found the number 18446744073709551616"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", 4, "more than two numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":{"0":4}}})", 4, "found an object"},
      {R"({"a":{"dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0]}})", 0,
       "larger than any file"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}})",
       4, "more than 32 axes"},
      {R"({"__metadata__":{"k":1}})", 0, "__metadata__: expected a string for key 'k', found the number 1"},
      {R"({"__metadata__":{"k":{"k":"v"}}})", 0, "found an object"},
      {R"({"__metadata__":{"k":"v","k":"v"}})", 0, "key 'k' occurs twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__ occurs twice"},
      {R"({"__metadata__":"x"})", 0, "expected an object of strings, found the string 'x'"},
      {R"({"a":{"dtype":"F32",)", 0, "not valid JSON"},
      {R"({} {})", 0, "not valid JSON"},
      {"{\"a\xFF\":1}", 0, "not valid JSON"},
      {" {}", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{}", 4, "4 bytes follow the last tensor"},
  };
  for (const auto& c : cases) {
    const std::string error = refusal(c.header, c.data_bytes);
    EXPECT_TRUE(error.starts_with("x.safetensors: ") && contains(error, c.reason)) << c.header << "\n"
                                                                                   << error;
  }
}

TEST(Safetensors, RefusesWhatHidesBehindANulByte) {
  using namespace std::string_literals;
  EXPECT_TRUE(contains(refusal("{}\0{\"a\":1}"s, 0), "NUL"));
}

TEST(Safetensors, ShowsHostileNamesShortAndWithoutControlCharacters) {
  const std::string header = "{\"\\u001b[2J" + std::string(100'000, 'n') + "\":1}";
  const std::string error = refusal(header, 0);
  EXPECT_LT(error.size(), 500U);
  EXPECT_TRUE(contains(error, "\\x1B[2J")) << error;
}

TEST(Safetensors, SaysWhatAWrongFileLooksLike) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"<!DOCTYPE html><html><body>404</body></html>", "this looks like an HTML page, 44 bytes"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 99\n",
       "a Git LFS pointer to a file of 99 bytes"},
      {"", "this looks like an empty file"},
      {"\x1f\x8b\x08 and so on", "this looks like gzip data"},
      {"PK\x03\x04 archive/data.pkl", "convert to safetensors"},
      {"GGUF\x03 and so on", "this looks like a GGUF file"},
      {"{\"hidden_size\": 64}", "this looks like JSON text"},
  };
  for (const auto& [bytes, expected] : cases) {
    write_bytes(folder / "model.safetensors", bytes);
    const std::string error = error_of([&] { Safetensors file(folder / "model.safetensors"); });
    EXPECT_TRUE(contains(error, expected)) << error;
  }
}

TEST(Safetensors, NamesBothSizesOfAFileCutShort) {
  const std::string sound = damaged_files()[0].bytes;
  const std::string cut = sound.substr(0, sound.size() - 1);
  EXPECT_TRUE(contains(error_of([&] { parse(cut); }),
                       "tensor 'b': ends at byte 24 of the data, but the file holds 23"));
}

TEST(Safetensors, RefusesEveryCutOfASoundFile) {
  const std::string sound = damaged_files()[0].bytes;
  for (size_t length = 0; length < sound.size(); length++) {
    EXPECT_THROW(parse(sound.substr(0, length)), Error) << length;
  }
}

TEST(WriteSafetensors, GivesBackWhatWasWritten) {
  std::mt19937 random(fresh_seed());
  std::vector<float> numbers(60);
  for (auto& x : numbers) x = std::normal_distribution<float>()(random);
  numbers[3] = std::nanf("");
  numbers[4] = -INFINITY;
  const auto half = encode(numbers, DType::BF16);
  const std::vector<std::byte> odd{std::byte{1}, std::byte{2}, std::byte{3}};
  const TensorMap tensors{{"matrix", view_of(numbers, {3, 4, 5})},
                          {"half", {DType::BF16, {60}, half}},
                          {"naïve \"quoted\"", {DType::U8, {3}, odd}},
                          {"scalar", view_of(std::span(numbers).first(1), {})},
                          {"empty", {DType::I64, {0, 7}, {}}}};
  const TemporaryFolder folder;
  write_safetensors(folder / "f", tensors, {{"k", "v\n"}});
  const Safetensors file(folder / "f");
  EXPECT_EQ(file.metadata().at("k"), "v\n");
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const auto& [name, written] : tensors) {
    SCOPED_TRACE(name);
    const TensorView& read = file.tensors().at(name);
    EXPECT_EQ(read.dtype, written.dtype);
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_TRUE(std::equal(read.bytes.begin(), read.bytes.end(), written.bytes.begin(), written.bytes.end()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read.bytes.data()) % dtype_size(read.dtype), 0U)
        << "aligned in the file";
  }
}

TEST(WriteSafetensors, WritesTheSameBytesForTheSameTensors) {
  const std::vector<float> numbers{1, 2, 3};
  const TensorMap tensors{{"b", view_of(numbers, {3})}, {"a", view_of(numbers, {1, 3})}};
  const TemporaryFolder folder;
  write_safetensors(folder / "one", tensors);
  write_safetensors(folder / "two", tensors);
  const std::string bytes = read_bytes(folder / "one");
  EXPECT_EQ(bytes, read_bytes(folder / "two"));
  EXPECT_EQ(bytes.size() % 64, 24U) << "data begins at a multiple of 64";
  EXPECT_EQ(
      bytes.substr(8, 111),
      R"({"a":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},"b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]})");
}

TEST(WriteSafetensors, RefusesNamesThatTheFormatCannotHold) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(error_of([&] {
                         write_safetensors(folder / "f", {{"__metadata__", {DType::U8, {0}, {}}}});
                       }),
                       "no tensor may be named '__metadata__'"));
  EXPECT_TRUE(contains(error_of([&] {
                         write_safetensors(folder / "f", {{"\xFF", {DType::U8, {0}, {}}}});
                       }),
                       "UTF-8"));
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace onceover
