// A conversation with a model, turn by turn.
//
// Where the text of the next turn goes on from what the engine holds, only the new part is fed; else all of
// it is, anew. The model's own tokens stay as it drew them. One thread per object.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "chat/chat_template.h"
#include "execution/engine.h"
#include "generate/generate.h"

namespace onceover {

class Conversation {
 public:
  // All must outlive the conversation. `context` is the most tokens that the engine may hold.
  Conversation(Engine& engine, const Tokenizer& tokenizer, const ChatTemplate& form, int64_t context)
      : engine_(engine),
        tokenizer_(tokenizer),
        template_(form),
        context_(context),
        end_(end_of_turn(form, tokenizer)) {}

  // A message that is answered with the next one.
  void add(const std::string& role, const std::string& content);
  // Forgets all messages.
  void clear() { messages_.clear(); }
  const nlohmann::ordered_json& messages() const { return messages_; }

  struct Answer {
    GenerateResult result;
    size_t prompt_tokens = 0;  // of the whole conversation up to the answer
    size_t fed_tokens = 0;     // of these, fed now
  };

  // Adds `content` as the user's message and the answer as the assistant's. `show` receives the answer as it
  // comes; it ends where the model's or the template's turn does. `settings` is without its prompt. On an
  // Error the conversation is as before. Errors as in ChatTemplate and generate(), and for a conversation
  // beyond the context.
  Answer say(const std::string& content, const GenerateRequest& settings,
             const std::function<bool(const std::string&)>& show);

 private:
  std::vector<int> tokens_for(const jinja::Rendered& prompt) const;
  Answer answer(const GenerateRequest& settings, const std::function<bool(const std::string&)>& show);

  Engine& engine_;
  const Tokenizer& tokenizer_;
  const ChatTemplate& template_;
  int64_t context_;
  EndOfTurn end_;
  nlohmann::ordered_json messages_ = nlohmann::ordered_json::array();
  std::vector<int> tokens_;  // what the engine was given, and what it drew last
  std::string text_;         // that they stand for
};

}  // namespace onceover
