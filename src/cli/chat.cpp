// `onceover chat`: a conversation, on a terminal or line by line from a pipe.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/printable.h"
#include "chat/conversation.h"
#include "cli/loaded_model.h"
#include "cli/sampling.h"
#include "cli/verbs.h"

namespace onceover {
namespace {

struct ChatFlags {
  ModelChoice model;
  std::string template_file, system;
  std::vector<std::string> prompts;
  bool quiet = false;
  GenerateRequest request;
};

constexpr const char* commands =
    "/exit ends, /reset forgets the conversation, /help prints this; //… sends a line that begins with /\n";

ChatTemplate template_for(const ChatFlags& flags, const LoadedModel& model) {
  if (!flags.template_file.empty()) return ChatTemplate::read(flags.template_file);
  if (!model.embedded_template.empty()) return {model.embedded_template, "tokenizer.chat_template"};
  auto found = ChatTemplate::find(model.folder);
  if (!found)
    throw Error(
        "{}: the model has no chat template (chat_template.jinja, or chat_template in "
        "tokenizer_config.json); "
        "--template FILE gives one, and `onceover generate` continues plain text",
        model.folder.string());
  return std::move(*found);
}

void write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error("standard output: cannot be written");
}

class Chat {
 public:
  Chat(const ChatFlags& flags, Conversation& conversation) : flags_(flags), conversation_(conversation) {
    reset();
  }

  void reset() {
    conversation_.clear();
    if (!flags_.system.empty()) conversation_.add("system", flags_.system);
  }

  void say(const std::string& line) {
    const auto show = [](const std::string& text) {
      write(text);
      return true;
    };
    const auto answer = conversation_.say(line, flags_.request, show);
    write("\n");
    if (flags_.quiet) return;
    const auto& result = answer.result;
    const double rate = result.seconds > 0 ? static_cast<double>(result.tokens.size()) / result.seconds : 0;
    fmt::print(
        stderr, "{} tokens so far, {} of them fed now; answered {} tokens, {:.1f} tokens/s; ended by {}\n",
        answer.prompt_tokens, answer.fed_tokens, result.tokens.size(), rate, finish_name(result.finish));
  }

  // False for the end.
  bool take(std::string line) {
    if (line.ends_with('\r')) line.pop_back();
    if (line == "/exit") return false;
    if (line == "/reset") {
      reset();
    } else if (line == "/help") {
      fmt::print(stderr, "{}", commands);
    } else if (line.starts_with('/') && !line.starts_with("//")) {
      fmt::print(stderr, "unknown command '{}': {}", printable(line), commands);
    } else if (!line.empty()) {
      say(line.starts_with('/') ? line.substr(1) : line);
    }
    return true;
  }

 private:
  const ChatFlags& flags_;
  Conversation& conversation_;
};

// On a terminal a turn that fails does not end the conversation.
void talk_on_terminal(Chat& chat) {
  fmt::print(stderr, "{}", commands);
  for (std::string line; write("> "), std::getline(std::cin, line);) {
    try {
      if (!chat.take(line)) return;
    } catch (const Error& error) {
      fmt::print(stderr, "onceover: {}\n", printable(error.what(), 4096));
    }
  }
  write("\n");
}

void chat(const ChatFlags& flags) {
  LoadedModel model = load_model(flags.model);
  const ChatTemplate form = template_for(flags, model);
  Conversation conversation(*model.engine, *model.tokenizer, form, model.config.max_position_embeddings);
  Chat chat(flags, conversation);
  for (const std::string& prompt : flags.prompts) chat.say(prompt);
  if (!flags.prompts.empty()) return;
  if (isatty(STDIN_FILENO)) return talk_on_terminal(chat);
  std::string line;
  while (std::getline(std::cin, line) && chat.take(line)) {
  }
  if (std::cin.bad()) throw Error("standard input: cannot be read");
}

}  // namespace

Action chat_verb(CLI::App& app) {
  auto flags = std::make_shared<ChatFlags>();
  add_model_options(app, flags->model);
  app.add_option("--template", flags->template_file, "the chat template, instead of the model's own")
      ->type_name("FILE");
  app.add_option("--system", flags->system, "what the model is told before the conversation")
      ->type_name("TEXT");
  app.add_option("--prompt", flags->prompts,
                 "say this and end, instead of reading lines; several are said one after another")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  add_sampling_options(app, flags->request);
  app.add_flag("--quiet", flags->quiet, "no statistics after an answer");
  return [flags] { chat(*flags); };
}

}  // namespace onceover
