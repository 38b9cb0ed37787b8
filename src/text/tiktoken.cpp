#include "text/tiktoken.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/printable.h"
#include "text/bpe_vocabulary.h"
#include "text/byte_level.h"

namespace onceover {
namespace {

constexpr size_t max_token_bytes = 256;
constexpr int max_rank = 1 << 20;

struct Special {
  int id;
  const char* name;
};

struct Family {
  size_t ranks;
  const char* split;
  std::vector<Special> specials;
  std::optional<int> bos, eos;
};

const std::vector<Family>& families() {
  static const std::vector<Family> known = {
      {50256, "gpt-2", {{50256, "<|endoftext|>"}}, std::nullopt, 50256},
      {50280, "gpt-2", {{50256, "<|endoftext|>"}}, std::nullopt, 50256},
      {100256,
       "cl100k",
       {{100257, "<|endoftext|>"},
        {100258, "<|fim_prefix|>"},
        {100259, "<|fim_middle|>"},
        {100260, "<|fim_suffix|>"},
        {100276, "<|endofprompt|>"}},
       std::nullopt,
       100257},
      {199998, "gpt-4o", {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}, std::nullopt, 199999},
      {151643,
       "qwen2",
       {{151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}},
       std::nullopt,
       151643},
      {128000,
       "llama-bpe",
       {{128000, "<|begin_of_text|>"},
        {128001, "<|end_of_text|>"},
        {128006, "<|start_header_id|>"},
        {128007, "<|end_header_id|>"},
        {128009, "<|eot_id|>"}},
       128000,
       128001},
  };
  return known;
}

std::string from_base64(std::string_view text, const std::string& where, size_t line) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  const size_t padding = text.size() - std::min(text.find('='), text.size());
  for (const char c : text.substr(0, text.size() - padding)) {
    const size_t digit = digits.find(c);
    if (digit == digits.npos)
      throw Error("{}:{}: expected base64, found '{}'", where, line, printable(text, 40));
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  if (padding > 2 || text.size() % 4 != 0 || bytes.empty() || bytes.size() > max_token_bytes)
    throw Error("{}:{}: expected 1 to {} bytes in base64, found '{}'", where, line, max_token_bytes,
                printable(text, 40));
  return bytes;
}

// By rank.
std::map<int, std::string> read_ranks(std::string_view file, const std::string& where) {
  std::map<int, std::string> ranks;
  for (size_t line = 1; !file.empty(); line++) {
    const std::string_view text = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(text.size() + 1, file.size()));
    if (text.empty()) continue;
    const size_t space = std::min(text.find(' '), text.size());
    int rank = -1;
    const auto read =
        std::from_chars(text.data() + std::min(space + 1, text.size()), text.data() + text.size(), rank);
    if (read.ec != std::errc() || rank < 0 || rank > max_rank)
      throw Error("{}:{}: expected a token and its rank, found '{}'", where, line, printable(text, 40));
    if (!ranks.emplace(rank, from_base64(text.substr(0, space), where, line)).second)
      throw Error("{}:{}: rank {} occurs twice", where, line, rank);
  }
  if (ranks.empty()) throw Error("{}: expected tokens and ranks, found none", where);
  return ranks;
}

std::string alphabet_name(std::string_view bytes) {
  std::string name;
  for (const char byte : bytes) name += byte_level_alphabet()[static_cast<unsigned char>(byte)];
  return name;
}

// Every way in which a token is two tokens, those of the lowest ranks first: the order of ranks is then that
// of merging.
void add_merges(BpeVocabulary& vocabulary, const std::map<std::string, int>& rank_of,
                const std::string& bytes) {
  std::vector<std::pair<std::pair<int, int>, size_t>> cuts;
  for (size_t cut = 1; cut < bytes.size(); cut++) {
    const auto left = rank_of.find(bytes.substr(0, cut)), right = rank_of.find(bytes.substr(cut));
    if (left != rank_of.end() && right != rank_of.end()) cuts.push_back({{left->second, right->second}, cut});
  }
  std::sort(cuts.begin(), cuts.end());
  for (const auto& [pair, cut] : cuts)
    vocabulary.merges.emplace_back(alphabet_name(bytes.substr(0, cut)), alphabet_name(bytes.substr(cut)));
}

}  // namespace

HuggingFaceTokenizer tokenizer_of_tiktoken(std::string_view file, const std::string& split,
                                           const std::string& where) {
  const std::map<int, std::string> ranks = read_ranks(file, where);
  const auto family = std::find_if(families().begin(), families().end(),
                                   [&](const Family& one) { return one.ranks == ranks.size(); });
  if (split.empty() && family == families().end())
    throw Error("{}: {} ranks are those of no vocabulary whose split pattern is known", where, ranks.size());
  BpeVocabulary vocabulary;
  vocabulary.split = split.empty() ? family->split : split;
  std::map<std::string, int> rank_of;
  for (const auto& [rank, bytes] : ranks) {
    vocabulary.tokens.resize(static_cast<size_t>(rank) + 1);
    vocabulary.tokens.back() = alphabet_name(bytes);
    rank_of.emplace(bytes, rank);
  }
  for (const auto& [rank, bytes] : ranks) add_merges(vocabulary, rank_of, bytes);
  if (split.empty()) {
    for (const auto& [id, name] : family->specials)
      vocabulary.added.push_back({.id = id, .content = name, .special = true});
    vocabulary.bos = family->bos;
    vocabulary.eos = family->eos;
    vocabulary.adds_bos = family->bos.has_value();
  }
  TokenizerFiles files = tokenizer_files(vocabulary, where);
  return {std::move(files.tokenizer), std::move(files.config), where};
}

}  // namespace onceover
