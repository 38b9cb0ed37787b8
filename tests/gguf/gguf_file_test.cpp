#include "gguf/gguf_file.h"

#include <gtest/gtest.h>

#include "support/gguf_writer.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

constexpr uint32_t f32 = 0, q8_0 = 8;  // types of tensors
constexpr uint32_t u8 = 0, u32 = 4, f32_value = 6, boolean = 7, string = 8, array = 9;

GgufContents parse(const std::string& bytes) { return parse_gguf(std::as_bytes(std::span(bytes)), "x.gguf"); }

std::string_view text_at(const std::string& file, std::span<const std::byte> bytes) {
  return std::string_view(file).substr(
      static_cast<size_t>(bytes.data() - std::as_bytes(std::span(file)).data()), bytes.size());
}

template <class T>
void expect_value(uint32_t type, T value) {
  const std::string file = GgufWriter().value("key", type, little_endian(value)).file();
  EXPECT_EQ(std::get<T>(parse(file).metadata.at("key")), value) << type;
}

TEST(GgufFile, GivesValuesOfEveryType) {
  expect_value<uint8_t>(0, 255);
  expect_value<int8_t>(1, -128);
  expect_value<uint16_t>(2, 65535);
  expect_value<int16_t>(3, -32768);
  expect_value<uint32_t>(4, UINT32_MAX);
  expect_value<int32_t>(5, INT32_MIN);
  expect_value<float>(6, -0.1F);
  expect_value<bool>(7, true);
  expect_value<bool>(7, false);
  expect_value<uint64_t>(10, UINT64_MAX);
  expect_value<int64_t>(11, INT64_MIN);
  expect_value<double>(12, 0.1);
}

TEST(GgufFile, GivesStringsAsTheyLieInTheFile) {
  const std::string text("\0\xFF caf\xC3\xA9", 8);
  const std::string file = GgufWriter().value("key", string, gguf_string(text)).file();
  const auto contents = parse(file);
  const auto value = std::get<std::string_view>(contents.metadata.at("key"));
  EXPECT_EQ(value, text);
  EXPECT_EQ(value.data(), file.data() + file.size() - text.size());
}

TEST(GgufFile, GivesTheElementsOfAnArray) {
  const std::string words = gguf_string("a") + gguf_string("") + gguf_string("bcd");
  const std::string file = GgufWriter()
                               .value("words", array, gguf_array(string, 3, words))
                               .value("flags", array, gguf_array(boolean, 2, std::string("\1\0", 2)))
                               .value("none", array, gguf_array(f32_value, 0, ""))
                               .file();
  const auto contents = parse(file);
  const auto& held = std::get<GgufArray>(contents.metadata.at("words"));
  EXPECT_EQ(held.count, 3U);
  EXPECT_EQ(text_at(file, held.bytes), words);
  EXPECT_EQ(elements(held).size(), 3U);
  EXPECT_EQ(std::get<std::string_view>(elements(held)[2]), "bcd");
  EXPECT_EQ(elements(held, 1).size(), 1U);
  const auto flags = elements(std::get<GgufArray>(contents.metadata.at("flags")));
  EXPECT_TRUE(std::get<bool>(flags[0]));
  EXPECT_FALSE(std::get<bool>(flags[1]));
  EXPECT_TRUE(elements(std::get<GgufArray>(contents.metadata.at("none"))).empty());
}

TEST(GgufFile, GivesArraysInArrays) {
  const std::string pair = gguf_array(u8, 2, "\1\2"), triple = gguf_array(u8, 3, "\3\4\5");
  const std::string file =
      GgufWriter().value("nested", array, gguf_array(array, 2, pair + triple)).value("next", u8, "\6").file();
  const auto contents = parse(file);
  const auto nested = elements(std::get<GgufArray>(contents.metadata.at("nested")));
  ASSERT_EQ(nested.size(), 2U);
  EXPECT_EQ(std::get<uint8_t>(elements(std::get<GgufArray>(nested[1]))[2]), 5);
  EXPECT_EQ(std::get<uint8_t>(contents.metadata.at("next")), 6);
}

TEST(GgufFile, GivesTensorsOfVersionsTwoAndThree) {
  for (uint32_t version : {2, 3}) {
    GgufWriter writer;
    writer.version = version;
    writer.tensor("b", {2, 3, 4}, f32, std::string(96, 'b'))
        .tensor("a", {64, 2}, q8_0, std::string(136, 'a'));
    writer.tensor("scalar", {}, f32, "1234").tensor("empty", {4, 0}, f32, "");
    const std::string file = writer.file();
    const auto contents = parse(file);
    EXPECT_EQ(contents.version, version);
    EXPECT_EQ(contents.alignment, 32U);
    ASSERT_EQ(contents.tensors.size(), 4U);
    const GgufTensor &a = contents.tensors.at("a"), &b = contents.tensors.at("b");
    EXPECT_EQ(b.dims, (std::vector<int64_t>{2, 3, 4}));
    EXPECT_EQ(b.shape(), (std::vector<int64_t>{4, 3, 2}));
    EXPECT_EQ(b.row_elements(), 2);
    EXPECT_EQ(b.rows(), 12);
    EXPECT_EQ(text_at(file, b.bytes), std::string(96, 'b'));
    EXPECT_EQ(a.type, GgmlType::Q8_0);
    EXPECT_EQ(text_at(file, a.bytes), std::string(136, 'a'));
    EXPECT_EQ(contents.tensors.at("scalar").bytes.size(), 4U);
    EXPECT_EQ(contents.tensors.at("scalar").rows(), 1);
    EXPECT_EQ(contents.tensors.at("empty").bytes.size(), 0U);
    EXPECT_EQ(contents.tensors.at("empty").rows(), 0);
  }
}

TEST(GgufFile, TheAlignmentDecidesWhereTheDataBegins) {
  for (uint32_t alignment : {8, 64, 4096}) {
    GgufWriter writer;
    writer.alignment = alignment;
    writer.value("general.alignment", u32, little_endian(alignment));
    writer.tensor("a", {1}, f32, "aaaa").tensor("b", {1}, f32, "bbbb");
    const std::string file = writer.file();
    const auto contents = parse(file);
    EXPECT_EQ(contents.alignment, alignment);
    EXPECT_EQ(text_at(file, contents.tensors.at("a").bytes), "aaaa");
    EXPECT_EQ(text_at(file, contents.tensors.at("b").bytes), "bbbb");
  }
}

TEST(GgufFile, TheFileStaysOpenWhenItsObjectMoves) {
  const TemporaryFolder folder;
  write_bytes(folder / "x.gguf",
              GgufWriter().value("key", string, gguf_string("value")).tensor("a", {1}, f32, "data").file());
  GgufFile first(folder / "x.gguf");
  const GgufFile second(std::move(first));
  EXPECT_EQ(std::get<std::string_view>(second.contents().metadata.at("key")), "value");
  EXPECT_EQ(second.contents().tensors.at("a").bytes[3], std::byte{'a'});
}

}  // namespace
}  // namespace onceover
