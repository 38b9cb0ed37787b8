#include "weights/bind.h"

#include <gtest/gtest.h>

#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/text.h"
#include "support/errors.h"
#include "weights/init.h"

namespace onceover {
namespace {

constexpr const char* head = "lm_head.weight";
constexpr const char* table = "model.embed_tokens.weight";

// A tiny model with the tensors of its weights.
struct Model {
  explicit Model(bool tied, const std::string& preset = "yoco-u-tiny") {
    Config config = *find_preset(preset);
    config.tie_word_embeddings = tied;
    plan = build(config);
    weights = initial_weights(plan, 1);
    tensors = name_weights(plan, weights);
  }

  std::string refusal() const {
    return error_of([&] { bind_weights(plan, tensors, "model"); });
  }

  Plan plan;
  std::vector<std::vector<float>> weights;
  TensorMap tensors;
};

TEST(BindWeights, GivesEveryWeightItsTensor) {
  const Model model(false);
  const auto views = bind_weights(model.plan, model.tensors, "model");
  ASSERT_EQ(views.size(), model.plan.weights.size());
  for (size_t i = 0; i < views.size(); i++) {
    EXPECT_EQ(views[i].shape, model.plan.weights[i].shape);
    EXPECT_EQ(to_f32(views[i]), model.weights[i]);
  }
}

TEST(BindWeights, NamesMissingTensorsAndCountsThem) {
  Model model(true);
  const std::string first = model.plan.weights[1].name;
  model.tensors.erase(first);
  EXPECT_TRUE(contains(model.refusal(),
                       fmt::format("model: does not fit the model: a tensor is missing: '{}'", first)))
      << model.refusal();
  model.tensors.clear();
  const auto all = fmt::format("{} tensors are missing: ", model.plan.weights.size());
  EXPECT_TRUE(contains(model.refusal(), all) && contains(model.refusal(), "…")) << model.refusal();
}

TEST(BindWeights, NamesUnexpectedMisshapenAndMistypedTensorsTogether) {
  Model model(true);
  const std::vector<float> numbers(6);
  const std::string name = model.plan.weights[1].name;
  const std::vector<std::byte> bytes(1 << 20);
  model.tensors["stranger"] = view_of(numbers, {6});
  model.tensors[name] = {DType::I8, {2, 3}, std::span(bytes).first(6)};
  const std::string error = model.refusal();
  EXPECT_TRUE(contains(error, "'stranger'")) << error;
  EXPECT_TRUE(contains(
      error, fmt::format("'{}' expected {}, found [2, 3]", name, shape_text(model.plan.weights[1].shape))))
      << error;
  EXPECT_TRUE(contains(error, fmt::format("'{}' found I8", name))) << error;
}

TEST(BindWeights, RefusesProjectionsOfLayersThatReadTheSharedKeysAndValues) {
  Model model(true);
  std::string shared;  // a layer with a query but no key projection
  for (const auto& spec : model.plan.weights) {
    const size_t at = spec.name.find("q_proj");
    if (at == std::string::npos) continue;
    std::string key = spec.name;
    key[at] = 'k';
    if (!model.tensors.contains(key)) shared = key;
  }
  ASSERT_FALSE(shared.empty());
  const std::vector<float> noise(64, 1e3F);
  model.tensors[shared] = view_of(noise, {8, 8});
  EXPECT_TRUE(contains(model.refusal(),
                       fmt::format("'{}' (a layer that reads the keys and values of another", shared)))
      << model.refusal();
  model.tensors["stranger"] = view_of(noise, {64});
  EXPECT_FALSE(contains(model.refusal(), "a layer that reads")) << model.refusal();
}

TEST(TiedEmbeddings, UseTheTableWhenTheFileHasNoHead) {
  const Model model(true);
  EXPECT_FALSE(model.tensors.contains(head));
  EXPECT_NO_THROW(bind_weights(model.plan, model.tensors, "model"));
}

TEST(TiedEmbeddings, AcceptAnEqualHead) {
  Model model(true);
  const TensorView embedding = model.tensors.at(table);
  model.tensors[head] = embedding;
  EXPECT_EQ(bind_weights(model.plan, model.tensors, "model").size(), model.plan.weights.size());
}

TEST(TiedEmbeddings, CompareTheHeadByNumbersNotByDType) {
  Model model(true);
  const auto half = encode(to_f32(model.tensors.at(table)), DType::BF16);
  const TensorView as_half{DType::BF16, model.tensors.at(table).shape, half};
  const auto widened = to_f32(as_half);
  model.tensors[head] = as_half;
  EXPECT_TRUE(contains(model.refusal(), "differs"));
  model.tensors[table] = view_of(widened, as_half.shape);
  EXPECT_NO_THROW(bind_weights(model.plan, model.tensors, "model"));
}

TEST(TiedEmbeddings, RefuseAHeadThatDiffersInOneNumber) {
  Model model(true);
  auto other = to_f32(model.tensors.at(table));
  other.back() += 1;
  model.tensors[head] = view_of(other, model.tensors.at(table).shape);
  const std::string error = model.refusal();
  EXPECT_TRUE(contains(error, "'lm_head.weight' differs from 'model.embed_tokens.weight'")) << error;
  EXPECT_TRUE(contains(error, "tie_word_embeddings")) << error;
}

TEST(UntiedEmbeddings, BindTheirOwnHead) {
  const Model model(false);
  ASSERT_TRUE(model.tensors.contains(head));
  EXPECT_NO_THROW(bind_weights(model.plan, model.tensors, "model"));
}

TEST(UntiedEmbeddings, NameTheMissingHeadAndTheSettingThatWouldTieIt) {
  Model model(false);
  model.tensors.erase(head);
  const std::string error = model.refusal();
  EXPECT_TRUE(contains(error, "a tensor is missing: 'lm_head.weight'") &&
              contains(error, "set tie_word_embeddings to true"))
      << error;
}

}  // namespace
}  // namespace onceover
