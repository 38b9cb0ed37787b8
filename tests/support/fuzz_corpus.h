// The fuzzers' seeds, replayed.
#pragma once
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {

inline std::filesystem::path fuzz_corpus(const char* name) {
  return test::source_folder() / "fuzz/corpus" / name;
}

// The seeds of a corpus, by name without extension, whose bytes f accepts; any exception but an Error escapes
// and fails the test.
template <class F>
std::set<std::string> accepted_seeds(const char* corpus, F f) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(fuzz_corpus(corpus))) {
    try {
      f(read_bytes(entry.path()));
      names.insert(entry.path().stem().string());
    } catch (const Error&) {
    }
  }
  return names;
}

}  // namespace onceover
