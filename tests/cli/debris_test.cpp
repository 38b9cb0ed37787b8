// What a download leaves behind under a model's or a tokeniser's name is called what it looks like.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/program.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

const std::pair<std::string, const char*> debris[] = {
    {"<!DOCTYPE html><html>", "an HTML page, 21 bytes"},
    {"version https://git-lfs.github.com/spec/v1\nsize 134\n",
     "a Git LFS pointer to a file of 134 bytes (fetch it with git lfs pull), 52 bytes"},
    {"", "an empty file"},
    {std::string("\x1F\x8B\x08\0gz", 6), "gzip data (unpack it first), 6 bytes"},
    {std::string("PK\x03\x04zip", 7), "convert to safetensors"}};

void expect_error(const std::vector<std::string>& words, const std::string& path, const std::string& part) {
  const ProgramResult result = run_program(words);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(result.err, path) && contains(result.err, part))
      << words[0] << ": " << result.err << "expected: " << part;
}

// Every verb that reads the file as a model.
void expect_model_error(const std::string& path, const std::string& part) {
  expect_error({"inspect", path}, path, part);
  expect_error({"generate", "x", "--model", path}, path, part);
  expect_error({"convert", path, path + ".out"}, path, part);
}

TEST(Debris, UnderAModelsNameIsCalledWhatItLooksLike) {
  const TemporaryFolder folder;
  for (const char* name : {"m.gguf", "m.bin", "m.safetensors"}) {
    const std::string path = (folder / name).string();
    for (const auto& [bytes, looks] : debris) {
      write_bytes(path, bytes);
      expect_model_error(path, looks);
    }
    write_bytes(path, std::string("GGUF\0\0\0\x03", 8) + std::string(64, '\0'));
    expect_model_error(path, "byte-swapped (big-endian)");
  }
}

TEST(Debris, InAModelsFolderIsNamedByFile) {
  const TemporaryFolder folder;
  const std::string model = (folder / "model").string();
  ASSERT_EQ(run_program({"init", "transformer-tiny", model}).status, 0);
  const std::string config = read_bytes(model + "/config.json"),
                    weights = read_bytes(model + "/model.safetensors");
  for (const auto& [bytes, looks] : debris) {
    const std::string kind = std::string(looks).substr(0, std::string(looks).find(','));
    for (const char* name : {"config.json", "model.safetensors"}) {
      write_bytes(model + "/" + name, bytes);
      const std::string path = model + "/" + name;
      expect_error({"inspect", model}, path, kind);
      expect_error({"generate", "x", "--model", model}, path, kind);
      write_bytes(model + "/config.json", config);
      write_bytes(model + "/model.safetensors", weights);
    }
  }
  std::filesystem::remove(model + "/model.safetensors");
  expect_model_error(model, "expected model.safetensors or model.safetensors.index.json, found neither");
  write_bytes(model + "/pytorch_model.bin", "PK");
  expect_model_error(model, "found neither but pytorch_model.bin, a pickle");
}

TEST(Debris, OfOtherKindsThanFilesIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::string fifo = (folder / "fifo.gguf").string(), empty = (folder / "empty").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_directory(empty);
  expect_model_error(fifo, "found a FIFO");
  expect_error({"tokenize", "x", "--model", fifo}, fifo, "found a FIFO");
  expect_error({"inspect", empty}, empty, "found neither");
  expect_error({"generate", "x", "--model", empty}, empty, "config.json: cannot be read");
  expect_error({"tokenize", "x", "--model", empty}, empty, "expected tokenizer.model or tokenizer.json");
  expect_model_error((folder / "absent.gguf").string(), "No such file or directory");
}

TEST(Inspect, SaysWhichKindsItKnowsAndWhatTheFileLooksLike) {
  const TemporaryFolder folder;
  const std::string other = (folder / "m.pdf").string(), tokenizer = (folder / "tokenizer.json").string();
  write_bytes(other, "%PDF-1.5 and so on");
  expect_error({"inspect", other}, other, "expected a .safetensors or .gguf file");
  expect_error({"inspect", other}, other, "found a PDF document, 18 bytes");
  write_bytes(tokenizer, R"({"added_tokens": [], "model": {}})");
  expect_error({"inspect", tokenizer}, tokenizer, "onceover tokenize reads it");
}

}  // namespace
}  // namespace onceover
