// A published model of 260 thousand weights (karpathy/tinyllamas), where it lies beside the repository: as
// GGUF, and as llama2.c writes it: seven i32 (dim, hidden_dim, layers, heads, kv_heads, vocab, length), then
// the f32 of each kind of weight, layer after layer.
#include <gtest/gtest.h>

#include <cstring>

#include "gguf/dequantise.h"
#include "gguf/gguf_file.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

std::filesystem::path stories(const char* name) {
  return test::source_folder() / "../shared/data/stories260K" / name;
}

class Stories : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(stories("stories260K.gguf")))
      GTEST_SKIP() << "no ../shared/data/stories260K";
  }
};

struct Kind {
  const char* name;  // of the tensor, with {} for the layer where there is one
  std::vector<int64_t> shape;
};

// In the order of llama2.c's file.
const std::vector<Kind> kinds{
    {"token_embd.weight", {512, 64}},      {"blk.{}.attn_norm.weight", {64}},
    {"blk.{}.attn_q.weight", {64, 64}},    {"blk.{}.attn_k.weight", {32, 64}},
    {"blk.{}.attn_v.weight", {32, 64}},    {"blk.{}.attn_output.weight", {64, 64}},
    {"blk.{}.ffn_norm.weight", {64}},      {"blk.{}.ffn_gate.weight", {172, 64}},
    {"blk.{}.ffn_down.weight", {64, 172}}, {"blk.{}.ffn_up.weight", {172, 64}},
    {"output_norm.weight", {64}},
};

std::vector<float> numbers_of(const GgufTensor& tensor) {
  std::vector<float> numbers(static_cast<size_t>(tensor.rows() * tensor.row_elements()));
  dequantise(tensor.type, tensor.bytes, numbers);
  return numbers;
}

// Compares the tensor with the floats at `at` and moves past them.
void expect_next(const GgufContents& contents, const std::string& name, const std::vector<int64_t>& shape,
                 const std::string& bin, size_t& at) {
  const auto found = contents.tensors.find(name);
  ASSERT_NE(found, contents.tensors.end()) << name;
  EXPECT_EQ(found->second.shape(), shape) << name;
  const std::vector<float> numbers = numbers_of(found->second);
  const size_t bytes = numbers.size() * sizeof(float);
  ASSERT_LE(at + bytes, bin.size());
  EXPECT_EQ(std::memcmp(numbers.data(), bin.data() + at, bytes), 0) << name;
  at += bytes;
}

TEST_F(Stories, HoldsTheNumbersOfTheFileItWasMadeFrom) {
  const GgufFile file(stories("stories260K.gguf"));
  const std::string bin = read_bytes(stories("stories260K.bin"));
  EXPECT_EQ(file.contents().tensors.size(), 48U);
  size_t at = 7 * sizeof(int32_t);
  for (const Kind& kind : kinds) {
    const int layers = std::string_view(kind.name).find("{}") == std::string_view::npos ? 1 : 5;
    for (int layer = 0; layer < layers; layer++) {
      expect_next(file.contents(), fmt::format(fmt::runtime(kind.name), layer), kind.shape, bin, at);
    }
  }
  // The matrix of the logits is the embedding.
  EXPECT_EQ(numbers_of(file.contents().tensors.at("output.weight")),
            numbers_of(file.contents().tensors.at("token_embd.weight")));
}

TEST_F(Stories, TellsItsShapeAndVocabulary) {
  const GgufFile file(stories("stories260K.gguf"));
  const auto& metadata = file.contents().metadata;
  EXPECT_EQ(std::get<std::string_view>(metadata.at("general.architecture")), "llama");
  EXPECT_EQ(std::get<uint32_t>(metadata.at("llama.attention.head_count_kv")), 4U);
  EXPECT_EQ(std::get<float>(metadata.at("llama.attention.layer_norm_rms_epsilon")), 1e-5F);
  const auto& tokens = std::get<GgufArray>(metadata.at("tokenizer.ggml.tokens"));
  EXPECT_EQ(tokens.count, 512U);
  EXPECT_EQ(std::get<std::string_view>(elements(tokens)[1]), "<s>");
}

}  // namespace
}  // namespace onceover
