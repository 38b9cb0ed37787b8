#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/printable.h"
#include "cli/json_text.h"
#include "cli/standard_input.h"
#include "cli/verbs.h"
#include "text/tokenizer.h"
#include "vocabulary/open_tokenizer.h"

namespace onceover {
namespace {

struct TokenizeOptions {
  std::filesystem::path model;
  std::string text = "-";
  bool ids_only = false, json = false;
};

// Bytes [start, end) of the decoded text: of the text given, unless a normaliser changed it.
struct Span {
  size_t start, end;
};

std::vector<Span> spans_of(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  std::vector<Span> spans;
  size_t end = 0;
  bool takes_space = tokenizer.adds_leading_space();
  for (const int id : ids) {
    const std::string_view piece = tokenizer.piece_bytes(id);
    const size_t bytes = piece.size() - (takes_space && piece.starts_with(' ') ? 1 : 0);
    takes_space = takes_space && piece.empty();
    spans.push_back({end, end + bytes});
    end += bytes;
  }
  return spans;
}

void print_table(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  const auto spans = spans_of(tokenizer, ids);
  for (size_t i = 0; i < ids.size(); i++)
    fmt::print("{:>7}  {}..{}  {}\n", ids[i], spans[i].start, spans[i].end,
               printable(tokenizer.token_name(ids[i])));
}

void print_json(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  const auto spans = spans_of(tokenizer, ids);
  auto tokens = nlohmann::ordered_json::array();
  for (size_t i = 0; i < ids.size(); i++)
    tokens.push_back({{"id", ids[i]},
                      {"piece", tokenizer.token_name(ids[i])},
                      {"start", spans[i].start},
                      {"end", spans[i].end}});
  const nlohmann::ordered_json report = {{"exact", tokenizer.is_exact()}, {"tokens", tokens}};
  fmt::print("{}", json_text(report));
}

void tokenize(const TokenizeOptions& o) {
  const auto tokenizer = open_tokenizer(o.model);
  const auto ids = tokenizer->encode(o.text == "-" ? standard_input() : o.text);
  if (o.json) {
    print_json(*tokenizer, ids);
  } else if (o.ids_only) {
    fmt::print("{}\n", fmt::join(ids, " "));
  } else {
    print_table(*tokenizer, ids);
  }
}

}  // namespace

Action tokenize_verb(CLI::App& app) {
  auto options = std::make_shared<TokenizeOptions>();
  app.add_option(
         "--model", options->model,
         "the tokeniser: a model's folder, tokenizer.json, .model, .gguf, .tiktoken, or llama2.c's .bin")
      ->required()
      ->type_name("PATH");
  app.add_option("TEXT", options->text, "the text; - is standard input")->capture_default_str();
  CLI::Option* ids = app.add_flag("--ids", options->ids_only, "print the ids alone, on one line");
  app.add_flag("--json", options->json, "print for programs")->excludes(ids);
  return [options] { tokenize(*options); };
}

}  // namespace onceover
