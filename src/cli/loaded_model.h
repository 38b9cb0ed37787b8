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

struct ModelChoice {
  std::string path;       // empty = default_model()
  std::string tokenizer;  // empty = the model's own
  int loops = 0;          // 0 = the config's
  ExecutorChoice executor;
};

struct LoadedModel {
  std::filesystem::path folder;   // that it lies in, or is
  std::string embedded_template;  // a GGUF file's chat template; else empty
  Config config;
  int loops;  // that tokens pass: as asked for, or else the config's
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;
};

// Error for a checkpoint that is not whole, and for a tokeniser with more tokens than the model.
LoadedModel load_model(const ModelChoice& choice);

// Declares --model, --tokenizer, --loops and the options of the executor and of inference.
void add_model_options(CLI::App& app, ModelChoice& choice);

}  // namespace onceover
