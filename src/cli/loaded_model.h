// A checkpoint, ready to read and write text.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "architectures/config.h"
#include "cli/executor.h"
#include "execution/engine.h"
#include "text/tokenizer.h"

namespace onceover {

struct LoadedModel {
  std::filesystem::path folder;  // of its tokeniser and templates
  Config config;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;
};

// `directory` empty = default_model(); loops 0 = the config's. Error for a checkpoint that is not whole, and
// for a tokeniser with more tokens than the model.
LoadedModel load_model(const std::string& directory, int loops, const ExecutorChoice& executor);

// Declares --model, --loops and the options of the executor and of inference.
void add_model_options(CLI::App& app, std::string& directory, int& loops, ExecutorChoice& executor);

}  // namespace onceover
