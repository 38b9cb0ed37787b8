#include "chat/chat_template.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/printable.h"

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;
using jinja::Dict;
using jinja::Origin;
using jinja::Value;

constexpr size_t max_template_bytes = size_t{1} << 20, max_config_bytes = size_t{16} << 20;

// Templates make special tokens of roles: `'<|' + role + '|>'`. Of these only.
bool is_known_role(const std::string& role) {
  constexpr std::array known{"system", "developer", "user", "assistant", "tool", "function", "ipython"};
  return std::find(known.begin(), known.end(), role) != known.end();
}

Value message_value(const Json& message) {
  if (!message.is_object() || !message.contains("role") || !message["role"].is_string())
    throw Error("a message must be an object with a text 'role', found {}",
                printable(message.dump(-1, ' ', false, Json::error_handler_t::replace)));
  Dict dict;
  for (const auto& [key, value] : message.items()) {
    const bool trusted = key == "role" && is_known_role(value.get_ref<const std::string&>());
    dict.set(key, jinja::from_json(value, trusted ? Origin::Template : Origin::Input), Origin::Input);
  }
  return jinja::dict_value(std::move(dict));
}

Value messages_value(const Json& messages) {
  if (!messages.is_array()) throw Error("messages must be a list");
  std::vector<Value> values;
  for (const Json& message : messages) values.push_back(message_value(message));
  return jinja::list_value(std::move(values));
}

// Of the forms "…" and [{"name": "default", "template": "…"}, …]; empty when there is none.
std::string template_of_config(const std::filesystem::path& file) {
  const auto json = parse_json(read_text_file(file, max_config_bytes), file.string());
  if (!json.is_object() || !json.contains("chat_template") || json["chat_template"].is_null()) return "";
  const auto& found = json["chat_template"];
  if (found.is_string()) return found.get<std::string>();
  if (found.is_array()) {
    for (const auto& one : found) {
      if (one.is_object() && one.value("name", nlohmann::json()) == "default" &&
          one.value("template", nlohmann::json()).is_string())
        return one["template"].get<std::string>();
    }
  }
  throw Error("{}: chat_template: expected a text, or a list with one named default", file.string());
}

}  // namespace

ChatTemplate ChatTemplate::read(const std::filesystem::path& file) {
  return {read_text_file(file, max_template_bytes), file.string()};
}

std::optional<ChatTemplate> ChatTemplate::find(const std::filesystem::path& directory) {
  std::error_code unreadable;
  if (std::filesystem::exists(directory / "chat_template.jinja", unreadable))
    return read(directory / "chat_template.jinja");
  const auto config = directory / "tokenizer_config.json";
  if (!std::filesystem::exists(config, unreadable)) return std::nullopt;
  const std::string source = template_of_config(config);
  if (source.empty()) return std::nullopt;
  return ChatTemplate(source, config.string() + ": chat_template");
}

jinja::Rendered ChatTemplate::render(const ChatRequest& request, const Tokenizer& tokenizer,
                                     const jinja::RenderOptions& options) const {
  Dict variables;
  for (const auto& [key, value] : request.variables.items())
    variables.set(key, jinja::from_json(value, Origin::Input), Origin::Input);
  const SpecialTokens& specials = tokenizer.specials();
  const auto name = [&](std::optional<int> id) {
    return jinja::text_value(id ? tokenizer.token_name(*id) : "");
  };
  variables.set("bos_token", name(specials.bos));
  variables.set("eos_token", name(specials.eos));
  variables.set("messages", messages_value(request.messages));
  variables.set("add_generation_prompt", {request.add_generation_prompt});
  return template_.render(variables, options);
}

EndOfTurn end_of_turn(const ChatTemplate& form, const Tokenizer& tokenizer) {
  ChatRequest request;
  request.messages = {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}};
  request.add_generation_prompt = false;
  jinja::Rendered rendered;
  try {
    rendered = form.render(request, tokenizer);
  } catch (const Error&) {
    return {};
  }
  if (rendered.input.empty()) return {};
  const std::string after = rendered.text.substr(rendered.input.back().end);
  for (const int id : tokenizer.encode_prompt(after, {}, TextPosition::Inside)) {
    const std::string_view piece = tokenizer.piece_bytes(id);
    if (piece.empty()) return {id, ""};
    if (piece.find_first_not_of(" \n") != std::string_view::npos) break;
  }
  return {std::nullopt, after.substr(0, after.find('\n'))};
}

std::vector<int> prompt_ids(const jinja::Rendered& prompt, const Tokenizer& tokenizer) {
  std::vector<int> ids = tokenizer.encode_prompt(prompt.text, prompt.input);
  const SpecialTokens& specials = tokenizer.specials();
  const bool begins = specials.bos && !ids.empty() && ids[0] == *specials.bos;
  if (specials.bos && specials.adds_bos && !begins) ids.insert(ids.begin(), *specials.bos);
  return ids;
}

}  // namespace onceover
