// Remembers the ids of words. A word's ids depend on nothing but the word, so the cache never changes a
// result. Bounded: words of at most 48 bytes, about 256 thousand of them. Safe to call from several threads.
#pragma once
#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace onceover {

class PieceCache {
 public:
  static constexpr size_t max_word_bytes = 48;

  // Appends the ids of `word` if it is known.
  bool find(std::string_view word, std::vector<int>& ids) {
    Stripe& stripe = stripe_of(word);
    const std::lock_guard lock(stripe.mutex);
    const auto known = stripe.words.find(word);
    if (known == stripe.words.end()) return false;
    ids.insert(ids.end(), known->second.begin(), known->second.end());
    return true;
  }

  void remember(std::string_view word, std::vector<int> ids) {
    Stripe& stripe = stripe_of(word);
    const std::lock_guard lock(stripe.mutex);
    if (stripe.words.size() < max_words / stripes_count) stripe.words.emplace(word, std::move(ids));
  }

 private:
  static constexpr size_t max_words = size_t{1} << 18;
  static constexpr size_t stripes_count = 64;

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return hash64(word); }
  };
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<std::string, std::vector<int>, Hash, std::equal_to<>> words;
  };

  Stripe& stripe_of(std::string_view word) { return stripes_[(hash64(word) >> 32) % stripes_count]; }

  std::array<Stripe, stripes_count> stripes_;
};

}  // namespace onceover
