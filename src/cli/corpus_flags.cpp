#include "cli/corpus_flags.h"

#include "base/error.h"

namespace onceover {
namespace {

// "\n" and "\t" as typed in a shell mean the characters.
std::string unescaped(const std::string& typed) {
  std::string text;
  for (size_t i = 0; i < typed.size(); i++) {
    const char next = typed[i] == '\\' && i + 1 < typed.size() ? typed[i + 1] : '\0';
    const char meant = next == 'n' ? '\n' : next == 't' ? '\t' : next == '\\' ? '\\' : '\0';
    text += meant != '\0' ? meant : typed[i];
    i += meant != '\0';
  }
  return text;
}

}  // namespace

void declare_corpus_flags(CLI::App& app, CorpusOptions& options) {
  app.add_option("inputs", options.inputs, "files and folders of text")->required()->type_name("PATH...");
  app.add_option("--pattern", options.pattern,
                 "which files of folders: a shell pattern of names, such as '*.txt'")
      ->type_name("PATTERN");
  app.add_option_function<std::string>(
         "--separator", [&options](const std::string& typed) { options.separator = unescaped(typed); },
         "what stands between documents of one file, such as '\\n'; without it a file is one document")
      ->type_name("TEXT");
}

}  // namespace onceover
