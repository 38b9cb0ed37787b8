#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <vector>

#include "cli/verbs.h"

namespace onceover {
namespace {

struct Verb {
  const char* name;
  const char* summary;
  Action (*declare)(CLI::App&);
};

constexpr Verb verbs[] = {
    {"explain", "say what a model is: parameters, work, memory, plan", explain_verb},
    {"init", "write a fresh checkpoint of a model", init_verb},
    {"inspect", "list the tensors of a file or checkpoint, and check it", inspect_verb},
    {"tokenizer", "make a tokeniser, or use one", tokenizer_verb},
    {"prepare", "turn text into token shards for training", prepare_verb},
    {"generate", "continue a text", generate_verb},
    {"docs", "print a generated page of docs/: cli or config", docs_verb},
};

int run(int argc, char** argv) {
  CLI::App app("Onceover: depth-scaled language models", "onceover");
  app.require_subcommand(1);
  app.set_version_flag("--version", ONCEOVER_VERSION);
  Action chosen;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    sub->callback([&chosen, action = verb.declare(*sub)] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    constexpr int usage_mistake = 2;
    return app.exit(e) == 0 ? 0 : usage_mistake;
  }
  chosen();
  return 0;
}

}  // namespace
}  // namespace onceover

int main(int argc, char** argv) {
  try {
    return onceover::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "onceover: {}\n", e.what());
    return 1;
  }
}
