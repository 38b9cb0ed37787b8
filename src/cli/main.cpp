#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/usage.h"
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
    {"convert", "write a checkpoint anew, in another number type", convert_verb},
    {"quantize", "write a checkpoint with packed weights, for inference", quantize_verb},
    {"inspect", "list the tensors of a file or checkpoint, and check it", inspect_verb},
    {"tokenizer", "make a tokeniser, or use one", tokenizer_verb},
    {"tokenize", "show the tokens of a text: id, bytes, piece", tokenize_verb},
    {"prepare", "turn text into token shards for training", prepare_verb},
    {"train", "train a model, or go on training one", train_verb},
    {"compare", "train several models on one budget and compare them", compare_verb},
    {"generate", "continue a text", generate_verb},
    {"chat", "talk with a model, turn by turn", chat_verb},
    {"perplexity", "measure how well a model foretells a text", perplexity_verb},
    {"bench", "measure the speed of inference", bench_verb},
    {"report", "draw the curves of training runs on one page", report_verb},
    {"docs", "print a generated page of docs/: cli or config", docs_verb},
};

// A file opened later must never get the number of a standard stream that the caller has closed: what is
// printed there would land in the file.
void occupy_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Reading a closed input and printing to a closed output are to fail; messages may vanish.
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void require_output_written() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw Error("standard output: cannot be written");
}

// CLI11 says only that a verb is missing when the first word is not one.
void refuse_unknown_verb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (word == verb.name) return;
    names.emplace_back(verb.name);
  }
  throw CLI::ExtrasError(fmt::format("unknown verb '{}'{} (onceover --help lists them)", printable(word),
                                     did_you_mean(word, names)),
                         CLI::ExitCodes::ExtrasError);
}

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
    refuse_unknown_verb(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    constexpr int usage_mistake = 2;
    if (app.exit(e) != 0) return usage_mistake;
    require_output_written();
    return 0;
  }
  chosen();
  require_output_written();
  return 0;
}

}  // namespace
}  // namespace onceover

int main(int argc, char** argv) {
  onceover::occupy_standard_streams();
  try {
    return onceover::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("onceover: not enough memory\n", stderr);
    return 1;
  } catch (const std::exception& e) {
    // Messages quote names from files; a terminal must not obey what stands in them.
    constexpr size_t longest = 4096;
    std::fputs(fmt::format("onceover: {}\n", onceover::printable(e.what(), longest)).c_str(), stderr);
    constexpr int usage_mistake = 2, failure = 1;
    return dynamic_cast<const onceover::UsageMistake*>(&e) != nullptr ? usage_mistake : failure;
  }
}
