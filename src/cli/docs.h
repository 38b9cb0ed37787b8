// The pages of docs/ that are generated from the program's own data. A test holds them against the files;
// `onceover docs cli > docs/cli.md` and `onceover docs config > docs/config.md` renew them.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace onceover {

// Every verb with its options, from CLI11's data. Hidden verbs are left out.
std::string cli_page(const CLI::App& root);

// Every key of config.json, with type, range, default and who reads it.
std::string config_page();

}  // namespace onceover
