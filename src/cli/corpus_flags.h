// The flags that say what text to read, shared by the verbs that read a corpus.
#pragma once
#include <CLI/CLI.hpp>

#include "data/corpus.h"

namespace onceover {

// Declares the inputs (positional), --pattern and --separator. `options` must outlive the app.
void declare_corpus_flags(CLI::App& app, CorpusOptions& options);

}  // namespace onceover
