// What a conversation feeds to its engine, which here answers from a script.
#include "chat/conversation.h"

#include <gtest/gtest.h>

#include "chat/fixtures.h"
#include "support/errors.h"

namespace onceover {
namespace {

// Draws the tokens of its script, one after another.
class ScriptedEngine : public Engine {
 public:
  explicit ScriptedEngine(std::vector<int> script) : script_(std::move(script)) {}

  int vocabulary() const override { return 262; }
  int64_t tokens() const override { return std::ssize(held); }
  std::span<const float> feed(std::span<const int32_t> tokens) override {
    held.insert(held.end(), tokens.begin(), tokens.end());
    logits_.assign(262, 0.0F);
    logits_[static_cast<size_t>(script_.at(drawn_++))] = 9;
    return logits_;
  }
  std::span<const float> feed_all(std::span<const int32_t> tokens) override { return feed(tokens); }
  void reset() override {
    held.clear();
    resets++;
  }

  std::vector<int32_t> held;
  int resets = 0;

 private:
  std::vector<int> script_;
  size_t drawn_ = 0;
  std::vector<float> logits_;
};

GenerateRequest greedy() {
  GenerateRequest request;
  request.sampler.temperature = 0;
  return request;
}

bool ignore(const std::string&) { return true; }

TEST(Conversation, FeedsOnlyWhatIsNew) {
  const auto tokenizer = chatml_tokenizer();
  const ChatTemplate form(chatml, "form");
  ScriptedEngine engine({'o', 'k', im_end, 'n', 'o', eos});
  Conversation conversation(engine, tokenizer, form, 1000);
  std::string shown;
  const auto show = [&](const std::string& text) {
    shown += text;
    return true;
  };
  const auto first = conversation.say("Hi", greedy(), show);
  EXPECT_EQ(shown, "ok");
  EXPECT_EQ(first.fed_tokens, first.prompt_tokens);
  EXPECT_EQ(first.result.finish, FinishReason::Stop);
  const int resets = engine.resets;
  const auto second = conversation.say("bye", greedy(), show);
  EXPECT_EQ(shown, "okno");
  EXPECT_EQ(engine.resets, resets);
  EXPECT_EQ(second.fed_tokens + first.prompt_tokens + 2, second.prompt_tokens);
  // The engine holds what one prompt of the whole conversation would be, and the answer.
  OrderedJson messages = conversation.messages();
  messages.erase(3);
  auto whole = prompt_ids(form.render({.messages = messages}, tokenizer), tokenizer);
  whole.insert(whole.end(), {'n', 'o'});
  EXPECT_EQ(engine.held, whole);
}

TEST(Conversation, StartsAnewWhereTheTemplateRewritesTheHistory) {
  const auto tokenizer = chatml_tokenizer();
  const ChatTemplate form("{% for m in messages %}<|im_start|>{{ m.content | trim }}{% endfor %}<|im_end|>",
                          "form");
  ScriptedEngine engine({' ', 'k', ' ', im_end, 'n', im_end});
  Conversation conversation(engine, tokenizer, form, 1000);
  conversation.say("Hi", greedy(), ignore);
  const auto second = conversation.say("bye", greedy(), ignore);
  EXPECT_EQ(second.fed_tokens, second.prompt_tokens);
  EXPECT_EQ(conversation.messages()[1]["content"], " k ");
}

TEST(Conversation, AFailedTurnLeavesItAsItWas) {
  const auto tokenizer = chatml_tokenizer();
  const ChatTemplate form("{% if messages | length > 1 %}{{ raise_exception('enough') }}{% endif %}x",
                          "form");
  ScriptedEngine engine({'a', eos, 'b', eos});
  Conversation conversation(engine, tokenizer, form, 1000);
  conversation.say("one", greedy(), ignore);
  EXPECT_TRUE(contains(error_of([&] { conversation.say("two", greedy(), ignore); }), "enough"));
  EXPECT_EQ(conversation.messages().size(), 2U);
  conversation.clear();
  EXPECT_EQ(conversation.say("three", greedy(), ignore).result.tokens, (std::vector<int32_t>{'b'}));
}

TEST(Conversation, KeepsWithinTheContext) {
  const auto tokenizer = chatml_tokenizer();
  const ChatTemplate form(chatml, "form");
  ScriptedEngine engine({'a', 'a', 'a', 'a', 'a'});
  const size_t prompt =
      prompt_ids(form.render({.messages = {{{"role", "user"}, {"content", "x"}}}}, tokenizer), tokenizer)
          .size();
  Conversation roomy(engine, tokenizer, form, static_cast<int64_t>(prompt) + 3);
  EXPECT_EQ(roomy.say("x", greedy(), ignore).result.tokens.size(), 3U);
  Conversation tight(engine, tokenizer, form, static_cast<int64_t>(prompt));
  EXPECT_TRUE(contains(error_of([&] { tight.say("x", greedy(), ignore); }), "context"));
}

}  // namespace
}  // namespace onceover
