// The template that writes a conversation as its model was trained on it.
//
// What messages hold is input: it spells no special token in the prompt (docs/chat-templates.md). Safe to
// use from several threads.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jinja/template.h"
#include "text/tokenizer.h"

namespace onceover {

struct ChatRequest {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();    // objects with a role
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();  // others: tools, …
  bool add_generation_prompt = true;                                    // up to where the answer begins
};

class ChatTemplate {
 public:
  // `where` names the template in errors.
  ChatTemplate(std::string_view source, const std::string& where) : template_(source, where) {}

  // Of a file, and of a model's folder: chat_template.jinja, else chat_template in tokenizer_config.json;
  // nothing when there is none.
  static ChatTemplate read(const std::filesystem::path& file);
  static std::optional<ChatTemplate> find(const std::filesystem::path& directory);

  // Error for messages that are no list of objects, and as in jinja::Template.
  jinja::Rendered render(const ChatRequest& request, const Tokenizer& tokenizer,
                         const jinja::RenderOptions& options = {}) const;

 private:
  jinja::Template template_;
};

// What the template writes after an answer: the special token that comes first, white space aside, else the
// rest of the line; neither where it writes nothing, or refuses a question with an answer.
struct EndOfTurn {
  std::optional<int> token;
  std::string text;
};
EndOfTurn end_of_turn(const ChatTemplate& form, const Tokenizer& tokenizer);

// The ids of a rendered prompt, with one bos before it: the template's, or else the tokeniser's if it adds
// one.
std::vector<int> prompt_ids(const jinja::Rendered& prompt, const Tokenizer& tokenizer);

}  // namespace onceover
