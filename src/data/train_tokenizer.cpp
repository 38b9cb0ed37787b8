#include "data/train_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/new_folder.h"
#include "base/utf8.h"
#include "text/sentencepiece_tokenizer.h"

namespace onceover {
namespace {

constexpr size_t block_bytes = size_t{64} << 10;

// Gives blocks of the corpus: one whenever what was given lags behind the share of what was seen.
class ThinnedText {
 public:
  ThinnedText(const Corpus& corpus, uint64_t max_bytes)
      : reader_(corpus),
        share_(std::min(1.0, static_cast<double>(max_bytes) / static_cast<double>(corpus.bytes()))) {}

  bool next(std::string_view& text) {
    for (;;) {
      if (rest_.empty() && !refill()) return false;
      const size_t bytes = block_of(rest_);
      text = rest_.substr(0, bytes);
      rest_.remove_prefix(bytes);
      seen_bytes_ += static_cast<double>(bytes);
      if (given_bytes_ >= share_ * seen_bytes_) continue;
      given_bytes_ += static_cast<double>(bytes);
      return true;
    }
  }

 private:
  bool refill() {
    Stretch stretch;
    if (!reader_.next(stretch)) return false;
    rest_ = stretch.text;
    return true;
  }

  // Blocks end after a newline where one is near, so that lines stay whole.
  static size_t block_of(std::string_view text) {
    if (text.size() <= block_bytes) return text.size();
    const size_t newline = text.substr(0, block_bytes).rfind('\n');
    return newline == text.npos || newline < block_bytes / 2 ? utf8_cut(text, block_bytes) : newline + 1;
  }

  CorpusReader reader_;
  double share_;
  double seen_bytes_ = 0, given_bytes_ = 0;
  std::string_view rest_;
};

}  // namespace

std::unique_ptr<Tokenizer> train_tokenizer(const TokenizerTraining& options) {
  const Corpus corpus = Corpus::list(options.corpus);
  if (corpus.bytes() == 0)
    throw Error("tokenizer training: the corpus's {} file(s) are empty", corpus.files.size());
  if (options.max_bytes == 0) throw Error("tokenizer training: max_bytes = 0, expected at least 1");
  ThinnedText text(corpus, options.max_bytes);
  std::string model =
      train_sentencepiece(options.settings, [&](std::string_view& block) { return text.next(block); });
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(std::move(model), "the trained model");
  const NewFolder folder(options.output);
  tokenizer->save(options.output);
  return tokenizer;
}

}  // namespace onceover
