// How fast tokenisers encode: bench_tokenizers TEXT TOKENIZER... prints MB/s of each on one thread and on
// two.
//
// The text is cut at ends of lines into pieces of about 16 KiB, each encoded as a text of its own, as
// documents are. A table of medians in Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "vocabulary/open_tokenizer.h"

namespace onceover::bench {
namespace {

constexpr size_t piece_bytes = 16 << 10;
constexpr int repetitions = 5;

std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t end = text.find('\n', std::min(piece_bytes, text.size()));
    pieces.push_back(text.substr(0, end == text.npos ? end : end + 1));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

size_t encode_all(const Tokenizer& tokenizer, const std::vector<std::string_view>& pieces, int threads) {
  std::atomic<size_t> next = 0, ids = 0;
  const auto work = [&] {
    for (size_t i = next++; i < pieces.size(); i = next++) ids += tokenizer.encode(pieces[i]).size();
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; i++) others.emplace_back(work);
  work();
  others.clear();
  return ids;
}

double megabytes_per_second(const Tokenizer& tokenizer, std::string_view text, int threads) {
  const auto pieces = pieces_of(text);
  std::vector<double> rates;
  for (int i = 0; i < repetitions; i++) {
    const double start = steady_seconds();
    encode_all(tokenizer, pieces, threads);
    rates.push_back(static_cast<double>(text.size()) * 1e-6 / (steady_seconds() - start));
  }
  std::sort(rates.begin(), rates.end());
  return rates[repetitions / 2];
}

void print_rates(std::string_view text, const std::string& path) {
  const auto tokenizer = open_tokenizer(path);
  const size_t ids = encode_all(*tokenizer, pieces_of(text), 2);
  fmt::print("| {} | {:.2f} | {:.1f} | {:.1f} |\n", path,
             static_cast<double>(text.size()) / static_cast<double>(ids),
             megabytes_per_second(*tokenizer, text, 1), megabytes_per_second(*tokenizer, text, 2));
}

}  // namespace
}  // namespace onceover::bench

int main(int argc, char** argv) try {
  using namespace onceover;
  if (argc < 3) throw Error("expected a text and tokenisers: bench_tokenizers TEXT TOKENIZER...");
  const MappedFile file(argv[1]);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (text.empty()) throw Error("{}: the text is empty", argv[1]);
  fmt::print("| tokeniser | bytes a token | MB/s, 1 thread | 2 threads |\n|---|---|---|---|\n");
  for (int i = 2; i < argc; i++) bench::print_rates(text, argv[i]);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_tokenizers: {}\n", error.what());
  return 1;
}
