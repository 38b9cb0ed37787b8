// The fuzzers' seeds, replayed as they are and changed.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>

#include "base/error.h"
#include "base/printable.h"
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

// A few changes such as a fuzzer makes: a bit turned, a byte set, the end cut off, a stretch doubled.
inline std::string mutated(std::string bytes, std::mt19937_64& random) {
  for (uint64_t changes = 1 + random() % 4; changes > 0 && !bytes.empty(); changes--) {
    const size_t at = random() % bytes.size(), count = std::min<size_t>(random() % 16, bytes.size() - at);
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random() % 2 == 0 ? 0xFF : random());
        break;
      case 2:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes, at, count);
    }
  }
  return bytes;
}

// Every seed of a corpus, changed `times` times, the same on every machine: f accepts it or throws an Error
// that may be shown on a terminal; any other exception escapes and fails the test. Both must occur.
template <class F>
void expect_answers_to_mutations(const char* corpus, int times, F f) {
  std::set<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(fuzz_corpus(corpus)))
    seeds.insert(entry.path());
  std::mt19937_64 random(1);
  int accepted = 0, refused = 0;
  for (const auto& seed : seeds) {
    const std::string bytes = read_bytes(seed);
    for (int i = 0; i < times; i++) {
      try {
        f(mutated(bytes, random));
        accepted++;
      } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_FALSE(message.empty());
        EXPECT_EQ(printable(message, message.size()), message) << seed;
        refused++;
      }
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace onceover
