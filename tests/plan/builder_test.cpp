#include "plan/builder.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace onceover {
namespace {

Builder two_rows_wide(ValueId& x) {
  Builder b;
  x = b.embed("embed_tokens", 10, 8, Init::normal(1));
  return b;
}

TEST(Builder, NamingAWeightTwiceSharesIt) {
  ValueId x;
  Builder b = two_rows_wide(x);
  const LinearSpec square{8, "residual", "residual", Init::normal(1)};
  x = b.linear(x, "proj", square);
  x = b.linear(x, "proj", square);
  b.logits(x, "model.embed_tokens.weight", 10, Init::normal(1));
  const Plan plan = b.finish();
  EXPECT_EQ(plan.weights.size(), 2u);
  EXPECT_EQ(plan.steps.size(), 4u);
  EXPECT_EQ(std::get<Logits>(plan.steps[3].op).weight, std::get<Embed>(plan.steps[0].op).table);
}

TEST(Builder, AWeightDeclaredWithAnotherShapeIsAMistake) {
  ValueId x;
  Builder b = two_rows_wide(x);
  b.linear(x, "proj", {8, "residual", "residual", Init::normal(1)});
  EXPECT_THROW(b.linear(x, "proj", {9, "residual", "residual", Init::normal(1)}), std::logic_error);
}

TEST(Builder, ScopesNestInNamesAndClose) {
  ValueId x;
  Builder b = two_rows_wide(x);
  {
    auto layer = b.scope("layers.3");
    auto attention = b.scope("self_attn");
    b.linear(x, "q_proj", {4, "heads", "residual", Init::normal(1)});
  }
  b.norm(x, "norm", 1e-5F);
  b.logits(x, "lm_head.weight", 10, Init::normal(1));
  const Plan plan = b.finish();
  EXPECT_EQ(plan.weights[1].name, "model.layers.3.self_attn.q_proj.weight");
  EXPECT_EQ(plan.weights[2].name, "model.norm.weight");
  EXPECT_EQ(plan.scopes[plan.steps[1].scope], "model.layers.3.self_attn");
  EXPECT_EQ(layer_of(plan.scopes[plan.steps[1].scope]), 3);
  EXPECT_EQ(layer_of(plan.scopes[plan.steps[2].scope]), -1);
}

TEST(Builder, WidthsThatDoNotFitAreMistakes) {
  ValueId x;
  Builder b = two_rows_wide(x);
  const ValueId narrow = b.linear(x, "narrow", {6, "heads", "residual", Init::normal(1)});
  EXPECT_THROW(b.add(x, narrow), std::logic_error);
  EXPECT_THROW(b.swiglu(x, narrow), std::logic_error);
  EXPECT_THROW(b.rope(narrow, 2, {}), std::logic_error);  // heads of odd width 3
  EXPECT_THROW(b.attend(x, {narrow, narrow}, 2, 2, Mask{}), std::logic_error);
  EXPECT_THROW(b.attend(x, {x, x}, 3, 2, Mask{}), std::logic_error);   // 3 heads over 2
  EXPECT_THROW(b.retain(x, {x, x}, narrow, 2, 16), std::logic_error);  // decay not one per head
  EXPECT_THROW(b.experts(x, 4, 8, 5, true, 0, Init::normal(1), Init::normal(1)), std::logic_error);
  EXPECT_THROW(b.width(99), std::logic_error);
}

TEST(Builder, APlanWithoutLogitsIsRefused) {
  ValueId x;
  Builder b = two_rows_wide(x);
  EXPECT_THROW(b.finish(), std::logic_error);
}

Plan tiny(float eps, int window, double deviation) {
  ValueId x;
  Builder b = two_rows_wide(x);
  x = b.norm(x, "norm", eps);
  x = b.attend(x, {x, x}, 2, 2, Mask{window});
  b.logits(x, "lm_head.weight", 10, Init::normal(deviation));
  return b.finish();
}

TEST(Plan, FingerprintFollowsMeaningAndNotTheStart) {
  const uint64_t base = tiny(1e-5F, 4, 1).fingerprint();
  EXPECT_EQ(base, tiny(1e-5F, 4, 1).fingerprint());
  EXPECT_EQ(base, tiny(1e-5F, 4, 0.5).fingerprint());
  EXPECT_NE(base, tiny(1e-6F, 4, 1).fingerprint());
  EXPECT_NE(base, tiny(1e-5F, 5, 1).fingerprint());
}

TEST(Plan, TextNamesEveryStepWithItsInputsWeightsAndSettings) {
  const std::string text = tiny(1e-5F, 4, 1).text();
  EXPECT_NE(text.find("%1 [8] = norm x=%0 weight=model.norm.weight groups=1 eps=1e-05"), std::string::npos)
      << text;
  EXPECT_NE(text.find("%2 [8] = attend q=%1 k=%1 v=%1 heads=2/2 window=4 scale=0.5"), std::string::npos)
      << text;
  EXPECT_NE(text.find("weight lm_head.weight [10, 8] vocab<-residual init normal 1"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace onceover
