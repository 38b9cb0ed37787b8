#include "base/sniff.h"

#include <gtest/gtest.h>

#include <string_view>

namespace onceover {
namespace {

using namespace std::string_view_literals;

std::string describe(std::string_view bytes) { return describe_file(std::as_bytes(std::span(bytes))); }

TEST(Sniff, NamesWhatDownloadDebrisIs) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid "
      "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
      "\nsize 4096123\n";
  EXPECT_EQ(describe("<!DOCTYPE html><html>"), "an HTML page, 21 bytes");
  EXPECT_EQ(describe("\xEF\xBB\xBF\n <HTML>"), "an HTML page, 11 bytes");
  EXPECT_EQ(describe(pointer),
            "a Git LFS pointer to a file of 4096123 bytes (fetch it with git lfs pull), 132 bytes");
  EXPECT_EQ(describe("version https://git-lfs.github.com/spec/v1"),
            "a Git LFS pointer (fetch the file with git lfs pull), 42 bytes");
  EXPECT_EQ(describe("<?xml version='1.0'?><Error>AccessDenied</Error>"), "an XML document, 48 bytes");
  EXPECT_EQ(describe("Entry not found"), "plain text, 15 bytes");
  EXPECT_EQ(describe(""), "an empty file");
  EXPECT_EQ(describe(std::string(600, '\0')), "zero bytes (an unfinished download?), 600 bytes");
}

TEST(Sniff, NamesOtherFormats) {
  EXPECT_EQ(describe("\x1f\x8b\x08\0"sv), "gzip data (unpack it first), 4 bytes");
  EXPECT_EQ(describe("GGUF\x03\0\0\0"sv), "a GGUF file, 8 bytes");
  EXPECT_EQ(describe("GGUF\0\0\0\x03"sv), "a byte-swapped (big-endian) GGUF file, 8 bytes");
  EXPECT_EQ(describe("FUGG\0\0\0\x03"sv), "a byte-swapped (big-endian) GGUF file, 8 bytes");
  EXPECT_TRUE(describe("PK\x03\x04\x14").starts_with("a zip archive (PyTorch"));
  EXPECT_TRUE(describe("\x80\x02}q\0"sv).starts_with("a Python pickle"));
  EXPECT_TRUE(describe("\x0a\0\0\0\0\0\0\0{\"a\":1}"sv).starts_with("a safetensors file"));
  EXPECT_TRUE(describe(" {\"hidden_size\": 3}").starts_with("JSON text"));
  EXPECT_TRUE(describe("\x01\x02\x03").starts_with("binary data of no known format"));
  std::string tar(300, 'x');
  tar.replace(257, 5, "ustar");
  EXPECT_TRUE(describe(tar).starts_with("a tar archive"));
}

}  // namespace
}  // namespace onceover
