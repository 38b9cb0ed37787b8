#include "weights/tensor_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

constexpr const char* index_name = "model.safetensors.index.json";

// Five tensors of 40 bytes.
class ShardedFiles : public testing::Test {
 protected:
  ShardedFiles() : numbers_(50) {
    std::iota(numbers_.begin(), numbers_.end(), 0.F);
    for (size_t i = 0; i < 5; i++)
      tensors_[fmt::format("t{}", i)] = view_of(std::span(numbers_).subspan(10 * i, 10), {2, 5});
  }

  void write_sharded() { write_tensor_files(folder_.path(), tensors_, 80); }
  nlohmann::json index() const { return nlohmann::json::parse(read_bytes(folder_ / index_name)); }
  void write_index(const nlohmann::json& index) const { write_bytes(folder_ / index_name, index.dump()); }
  std::string refusal() const {
    return error_of([&] { TensorFiles files(folder_.path()); });
  }

  TemporaryFolder folder_;
  std::vector<float> numbers_;
  TensorMap tensors_;
};

TEST_F(ShardedFiles, GiveBackWhatWasWritten) {
  write_sharded();
  EXPECT_EQ(folder_.entries(), 4U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model-00003-of-00003.safetensors"));
  EXPECT_EQ(index()["metadata"]["total_size"], 200);
  for (const auto& path : {folder_.path(), folder_ / index_name}) {
    const TensorFiles files(path);
    EXPECT_EQ(files.files().size(), 3U);
    ASSERT_EQ(files.tensors().size(), 5U);
    for (const auto& [name, tensor] : tensors_) {
      EXPECT_EQ(to_f32(files.tensors().at(name)), to_f32(tensor));
      EXPECT_EQ(files.tensors().at(name).shape, tensor.shape);
    }
  }
}

TEST_F(ShardedFiles, AreOneFileWhenItFits) {
  write_tensor_files(folder_.path(), tensors_, 200);
  EXPECT_EQ(folder_.entries(), 1U);
  EXPECT_EQ(TensorFiles(folder_.path()).tensors().size(), 5U);
  EXPECT_EQ(TensorFiles(folder_ / "model.safetensors").tensors().size(), 5U);
}

TEST_F(ShardedFiles, GiveATensorOverTheLimitAShardOfItsOwn) {
  write_tensor_files(folder_.path(), tensors_, 1);
  EXPECT_EQ(TensorFiles(folder_.path()).files().size(), 5U);
}

TEST_F(ShardedFiles, RefuseATensorThatIsNotInItsShard) {
  write_sharded();
  auto stale = index();
  stale["weight_map"]["ghost"] = "model-00001-of-00003.safetensors";
  write_index(stale);
  EXPECT_TRUE(contains(refusal(), "stale index: tensor 'ghost' is not in model-00001-of-00003.safetensors"))
      << refusal();
}

TEST_F(ShardedFiles, RefuseATensorPlacedInAnotherShard) {
  write_sharded();
  auto stale = index();
  stale["weight_map"]["t0"] = "model-00003-of-00003.safetensors";
  write_index(stale);
  EXPECT_TRUE(
      contains(refusal(),
               "tensor 't0' is in model-00001-of-00003.safetensors, but the index places it in model-00003"))
      << refusal();
}

TEST_F(ShardedFiles, RefuseATensorThatTheIndexDoesNotName) {
  write_sharded();
  auto stale = index();
  stale["weight_map"].erase("t1");
  write_index(stale);
  EXPECT_TRUE(contains(refusal(),
                       "tensor 't1' is in model-00001-of-00003.safetensors, but the index does not name it"))
      << refusal();
}

TEST_F(ShardedFiles, RefuseAnotherTotalSize) {
  write_sharded();
  auto stale = index();
  stale["metadata"]["total_size"] = 201;
  write_index(stale);
  EXPECT_TRUE(contains(refusal(), "total_size is 201, but the tensors take 200 bytes")) << refusal();
  stale["metadata"].erase("total_size");
  write_index(stale);
  EXPECT_NO_THROW(TensorFiles(folder_.path()));
}

TEST_F(ShardedFiles, RefuseAMissingShardByName) {
  write_sharded();
  std::filesystem::remove(folder_ / "model-00002-of-00003.safetensors");
  EXPECT_TRUE(contains(refusal(), "model-00002-of-00003.safetensors: cannot be read: No such file"))
      << refusal();
}

TEST_F(ShardedFiles, RefuseAShardOutsideTheFolder) {
  write_sharded();
  for (const char* path : {"../model.safetensors", "/etc/passwd", "..", ".", "", "a/b", "a\\b"}) {
    auto hostile = index();
    hostile["weight_map"]["t0"] = path;
    write_index(hostile);
    EXPECT_TRUE(contains(refusal(), "is not a plain file name")) << path;
  }
}

TEST_F(ShardedFiles, RefuseAFolderWithBothLayoutsOrNone) {
  EXPECT_TRUE(contains(refusal(), "found neither"));
  write_sharded();
  write_safetensors(folder_ / "model.safetensors", tensors_);
  EXPECT_TRUE(contains(refusal(), "found both"));
}

TEST(ShardIndex, RefusesWhatIsNotAnIndex) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "expected a JSON object"},
      {"{}", "expected an object as weight_map"},
      {R"({"weight_map": {}})", "weight_map names no tensor"},
      {R"({"model_type": "llama", "hidden_size": 64})", "this looks like a model's config.json"},
      {R"({"weight_map": []})", "expected an object as weight_map"},
      {R"({"weight_map": {"a": 1}})", "tensor 'a': expected a string as shard"},
      {R"({"weight_map": {}, "metadata": 1})", "expected an object as metadata"},
      {R"({"weight_map": {}, "metadata": {"total_size": -1}})",
       "expected a non-negative integer as total_size"},
      {R"({"weight_map": {"a": "x", "a": "y"}})", "key 'a' occurs twice"},
      {"<html>", "an HTML page"},
  };
  for (const auto& [text, reason] : cases) {
    const std::string error = error_of([t = text] { parse_shard_index(t, "i.json"); });
    EXPECT_TRUE(error.starts_with("i.json: ") && contains(error, reason)) << error;
  }
}

}  // namespace
}  // namespace onceover
