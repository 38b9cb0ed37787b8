#include "text/sentencepiece_trainer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/utf8.h"
#include "text/child_process.h"
#include "text/sentencepiece_model.h"

namespace onceover {
namespace {

constexpr size_t max_sentence_bytes = 4096;  // below the library's limit, above which it drops a line

// True for a character that cannot be part of a piece: it ends a sentence.
bool ends_sentence(std::string_view character) {
  return character == "\n" || character == "\t" || character == "\xE2\x96\x81" ||
         character == "\xE2\x96\x85" || character == std::string_view("\0", 1);
}

// Cuts the texts into the library's sentences: lines of clean UTF-8, long ones at a character.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const TextSource& texts) : texts_(texts) { Next(); }
  bool done() const override { return done_; }
  const std::string& value() const override { return sentence_; }
  sentencepiece::util::Status status() const override { return {}; }

  void Next() override {
    sentence_.clear();
    while (sentence_.empty()) {
      if (rest_.empty() && !texts_(rest_)) {
        done_ = true;
        return;
      }
      take_sentence();
    }
  }

 private:
  void take_sentence() {
    size_t end = 0, skip = 0;
    while (end < std::min(rest_.size(), max_sentence_bytes)) {
      const size_t bytes = utf8_char_bytes(rest_.substr(end, 4));
      if (bytes == 0 || ends_sentence(rest_.substr(end, bytes))) {
        skip = std::max<size_t>(bytes, 1);
        break;
      }
      end += bytes;
    }
    sentence_ = rest_.substr(0, end);
    rest_.remove_prefix(end + skip);
  }

  const TextSource& texts_;
  std::string_view rest_;
  std::string sentence_;
  bool done_ = false;
};

void check(const SentencePieceTraining& settings) {
  const auto refuse = [](const char* name, auto found, const char* expected) {
    throw Error("SentencePiece training: {} = {}, expected {}", name, found, expected);
  };
  if (settings.vocab_size < 300 || settings.vocab_size > 1000000)
    refuse("vocab_size", settings.vocab_size, "300 to 1000000");
  if (!(settings.character_coverage >= 0.98 && settings.character_coverage <= 1)) {
    refuse("character_coverage", settings.character_coverage, "0.98 to 1");
  }
  if (settings.max_piece_characters < 1 || settings.max_piece_characters > 512) {
    refuse("max_piece_characters", settings.max_piece_characters, "1 to 512");
  }
  if (settings.threads < 1 || settings.threads > 128) refuse("threads", settings.threads, "1 to 128");
}

std::unordered_map<std::string, std::string> arguments(const SentencePieceTraining& settings) {
  return {{"model_type", "bpe"},
          {"vocab_size", std::to_string(settings.vocab_size)},
          {"hard_vocab_limit", "false"},
          {"character_coverage", fmt::format("{}", settings.character_coverage)},
          {"max_sentencepiece_length", std::to_string(settings.max_piece_characters)},
          {"split_digits", settings.split_digits ? "true" : "false"},
          {"num_threads", std::to_string(settings.threads)},
          {"normalization_rule_name", "identity"},
          {"add_dummy_prefix", "false"},
          {"remove_extra_whitespaces", "false"},
          {"required_chars", "\xE2\x96\x81"},
          {"allow_whitespace_only_pieces", "true"},
          {"byte_fallback", "true"},
          {"unk_id", "0"},
          {"bos_id", "1"},
          {"eos_id", "2"},
          {"pad_id", "3"},
          {"minloglevel", "2"}};
}

std::string train_here(const SentencePieceTraining& settings, const TextSource& texts) {
  Sentences sentences(texts);
  if (sentences.done()) throw Error("SentencePiece training: the texts hold no UTF-8 line");
  std::string message;
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments(settings), &sentences, &message);
  if (!status.ok()) throw Error("SentencePiece training: {}", status.ToString());
  return message;
}

}  // namespace

std::string train_sentencepiece(const SentencePieceTraining& settings, const TextSource& texts) {
  check(settings);
  const std::string message =
      run_in_child("SentencePiece training", [&] { return train_here(settings, texts); });
  // Written anew, since the library's message also holds what does not matter, such as the number of threads.
  return sentencepiece_message(parse_sentencepiece_model(message, "the trained model"));
}

}  // namespace onceover
