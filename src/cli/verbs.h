// The verbs of the program: one file and one line of the table in main.cpp each.
//
// A verb declares its options on a subcommand and returns what to do when it is chosen. It throws
// onceover::Error for anything a user can mend; main prints it and exits with 1. Usage mistakes exit with 2.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace onceover {

using Action = std::function<void()>;

Action bench_verb(CLI::App& app);
Action chat_verb(CLI::App& app);
Action convert_verb(CLI::App& app);
Action explain_verb(CLI::App& app);
Action generate_verb(CLI::App& app);
Action init_verb(CLI::App& app);
Action inspect_verb(CLI::App& app);
Action quantize_verb(CLI::App& app);
Action tokenize_verb(CLI::App& app);
Action tokenizer_verb(CLI::App& app);
Action perplexity_verb(CLI::App& app);
Action prepare_verb(CLI::App& app);
Action train_verb(CLI::App& app);
Action compare_verb(CLI::App& app);
Action report_verb(CLI::App& app);
Action docs_verb(CLI::App& app);  // hidden: prints the generated pages of docs/

}  // namespace onceover
