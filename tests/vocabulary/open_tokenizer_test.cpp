#include "vocabulary/open_tokenizer.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "support/errors.h"
#include "support/places.h"
#include "text/llama2c_tokenizer.h"
#include "text/samples.h"
#include "text/tiktoken.h"
#include "vocabulary/fixtures.h"
#include "vocabulary/rank_files.h"

namespace onceover {
namespace {

// tiktoken's own rule, word by word, as plainly as it can be said.
std::vector<int> naive_ids(const std::string& word, const std::map<std::string, int>& ranks) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  while (true) {
    size_t best = parts.size();
    int rank = INT32_MAX;
    for (size_t i = 0; i + 1 < parts.size(); i++) {
      const auto found = ranks.find(parts[i] + parts[i + 1]);
      if (found != ranks.end() && found->second < rank) best = i, rank = found->second;
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  std::vector<int> ids;
  for (const auto& part : parts)
    ids.push_back(part.size() == 1 ? static_cast<unsigned char>(part[0]) : ranks.at(part));
  return ids;
}

TEST(Llama2cTokenizer, IsTheScoredVocabularyWithSpacesWrittenOut) {
  const auto tokenizer = tokenizer_of_llama2c(llama2c_file(), "tokenizer.bin");
  const auto gguf = tokenizer_of(scored_vocabulary());
  std::mt19937 random(fresh_seed());
  for (int i = 0; i < 300; i++) {
    const std::string text = random_text(random, 10) + "ab a";
    EXPECT_EQ(tokenizer.encode(text), gguf->encode(text));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
  EXPECT_EQ(tokenizer.specials().bos, 1);
  EXPECT_EQ(tokenizer.token_name(1), "<s>");
}

TEST(Llama2cTokenizer, RefusesDamagedFiles) {
  const std::string file = llama2c_file();
  for (size_t bytes = 0; bytes < file.size(); bytes += 7)
    EXPECT_THROW(tokenizer_of_llama2c(file.substr(0, bytes), "x.bin"), Error) << bytes;
  std::string huge = file;
  huge.replace(8, 4, "\xFF\xFF\xFF\x7F");
  EXPECT_TRUE(
      contains(error_of([&] { tokenizer_of_llama2c(huge, "x.bin"); }), "token 0 says 2147483647 bytes"));
}

TEST(Tiktoken, MergesTheLowestRankFirst) {
  std::mt19937 random(fresh_seed());
  std::vector<std::string> longer;
  std::map<std::string, int> ranks;
  while (longer.size() < 60) {  // each made of two that are there
    const auto part = [&] {
      const size_t at = random() % (longer.size() + 3);
      return at < 3 ? std::string(1, "abc"[at]) : longer[at - 3];
    };
    const std::string token = part() + part();
    if (token.size() > 12 || !ranks.emplace(token, 256 + static_cast<int>(longer.size())).second) continue;
    longer.push_back(token);
  }
  const auto tokenizer = tokenizer_of_tiktoken(tiktoken_file(longer), "gpt-2", "x.tiktoken");
  for (int i = 0; i < 2000; i++) {
    std::string word;
    for (size_t length = 1 + random() % 30; length > 0; length--) word += "abc"[random() % 3];
    EXPECT_EQ(tokenizer.encode(word), naive_ids(word, ranks)) << word;
  }
}

// As many ranks as a published file has, with one left out where that file leaves one out.
std::string published_ranks(int count, int hole) {
  std::string file;
  for (int i = 0, rank = 0; i < count; i++, rank++) {
    rank += rank == hole ? 1 : 0;
    std::string token(1, static_cast<char>(i % 256));
    for (int more = i / 256; more > 0; more /= 64) token += static_cast<char>('0' + more % 64);
    file += base64(token) + fmt::format(" {}\n", rank);
  }
  return file;
}

TEST(Tiktoken, KnowsPublishedFilesByTheNumberOfTheirRanks) {
  struct Published {
    int ranks, hole;
    std::vector<std::pair<std::string, int>> specials;
  };
  const Published files[] = {{50256, -1, {{"<|endoftext|>", 50256}}},
                             {50280, 50256, {{"<|endoftext|>", 50256}}},
                             {100256, -1, {{"<|endoftext|>", 100257}, {"<|fim_suffix|>", 100260}}},
                             {199998, -1, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
                             {151643, -1, {{"<|im_end|>", 151645}}},
                             {128000, -1, {{"<|begin_of_text|>", 128000}, {"<|eot_id|>", 128009}}}};
  for (const Published& file : files) {
    const auto tokenizer = tokenizer_of_tiktoken(published_ranks(file.ranks, file.hole), "", "x.tiktoken");
    for (const auto& [name, id] : file.specials) {
      EXPECT_EQ(tokenizer.encode_prompt(name, {}), std::vector<int>{id});
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(name)), name);  // as text
      EXPECT_GT(tokenizer.encode(name).size(), 1U);
    }
    const std::string text = "one two 12345 \xFF";
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(Tiktoken, RefusesWhatItCannotKnow) {
  const auto refusal = [](const std::string& file) {
    return error_of([&] { tokenizer_of_tiktoken(file, "", "x.tiktoken"); });
  };
  EXPECT_TRUE(contains(refusal(tiktoken_file({})), "256 ranks are those of no vocabulary"));
  EXPECT_TRUE(contains(refusal("YQ== x\n"), "x.tiktoken:1: expected a token and its rank"));
  EXPECT_TRUE(contains(refusal("YQ== 0\nY? 1\n"), "x.tiktoken:2: expected base64"));
  EXPECT_TRUE(contains(refusal("YQ== 0\nYg== 0\n"), "rank 0 occurs twice"));
  EXPECT_TRUE(contains(refusal("YQ== 99999999999\n"), "expected a token"));
  EXPECT_TRUE(contains(refusal(""), "found none"));
}

TEST(OpenTokenizer, KnowsFilesByTheirNames) {
  const TemporaryFolder folder;
  write_bytes(folder / "v.gguf", gguf_file(scored_vocabulary()));
  write_bytes(folder / "v.bin", llama2c_file());
  open_tokenizer(folder / "v.bin")->save(folder.path());
  const auto expected = open_tokenizer(folder / "v.gguf")->encode("ab ab a");
  for (const char* name : {"v.bin", "tokenizer.model", ""})
    EXPECT_EQ(open_tokenizer(folder / name)->encode("ab ab a"), expected) << name;
  open_tokenizer(folder / "v.gguf")->save(folder.path());
  const TemporaryFolder other;
  write_bytes(other / "v.gguf", gguf_file(merged_vocabulary("qwen2")));
  open_tokenizer(other / "v.gguf")->save(other.path());
  EXPECT_EQ(open_tokenizer(other / "tokenizer.json")->encode("ab11"),
            open_tokenizer(other / "v.gguf")->encode("ab11"));
}

TEST(OpenTokenizer, SaysWhatWasDownloadedInstead) {
  const TemporaryFolder folder;
  const std::pair<std::string, const char*> contents[] = {
      {"<!DOCTYPE html><html>", "an HTML page"},
      {"version https://git-lfs.github.com/spec/v1\nsize 4096\n",
       "a Git LFS pointer to a file of 4096 bytes"},
      {"", "an empty file"},
      {std::string("\x1F\x8B\x08\0", 4), "gzip data"}};
  for (const char* name : {"v.json", "v.model", "v.tiktoken", "v.bin", "v.gguf"}) {
    for (const auto& [bytes, looks] : contents) {
      write_bytes(folder / name, bytes);
      const std::string message = error_of([&] { open_tokenizer(folder / name); });
      EXPECT_TRUE(contains(message, looks)) << message;
    }
  }
}

TEST(OpenTokenizer, SaysWhatAnotherFileLooksLike) {
  const TemporaryFolder folder;
  const auto refusal = [&](const char* name, const std::string& bytes) {
    write_bytes(folder / name, bytes);
    return error_of([&] { open_tokenizer(folder / name); });
  };
  EXPECT_TRUE(contains(refusal("x.txt", "<!DOCTYPE html><html>"), "an HTML page"));
  EXPECT_TRUE(contains(refusal("x.gguf", "<!DOCTYPE html><html>"), "an HTML page"));
  EXPECT_TRUE(contains(refusal("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n"), "LFS"));
  EXPECT_FALSE(refusal("x.model", "").empty());
  EXPECT_THROW(open_tokenizer(folder / "absent"), Error);
}

// Published vocabularies: GPT-NeoX's in two forms, Llama 2's, and the 512 tokens of stories260K in two forms.
class Published : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data() / "tokenizers")) GTEST_SKIP() << "no ../shared/data/tokenizers";
  }
  static std::filesystem::path data() { return test::source_folder() / "../shared/data"; }

  static void expect_alike(const std::filesystem::path& one, const std::filesystem::path& other) {
    const auto a = open_tokenizer(data() / one), b = open_tokenizer(data() / other);
    std::mt19937 random(fresh_seed());
    for (int i = 0; i < 2000; i++) {
      const std::string text = display_utf8(random_text(random, 12));
      ASSERT_EQ(a->encode(text), b->encode(text)) << text;
    }
  }
};

TEST_F(Published, NeoXsGgufAndJsonGiveTheSameIds) {
  expect_alike("tokenizers/ggml-vocab-gpt-neox.gguf", "tokenizers/20B_tokenizer.json");
}

TEST_F(Published, StoriesGgufAndBinGiveTheSameIds) {
  expect_alike("stories260K/stories260K.gguf", "stories260K/tok512.bin");
  EXPECT_EQ(open_tokenizer(data() / "stories260K/tok512.bin")->vocab_size(), 512);
}

TEST_F(Published, GiveTextsBack) {
  std::mt19937 random(fresh_seed());
  for (const char* name : {"ggml-vocab-gpt-2.gguf", "ggml-vocab-llama-spm.gguf"}) {
    const auto tokenizer = open_tokenizer(data() / "tokenizers" / name);
    ASSERT_TRUE(tokenizer->is_exact()) << name;
    for (int i = 0; i < 2000; i++) {
      const std::string text = i % 3 == 0 ? random_bytes(random, random() % 100) : random_text(random, 12);
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << name;
    }
  }
  const auto gpt2 = open_tokenizer(data() / "tokenizers/ggml-vocab-gpt-2.gguf");
  EXPECT_EQ(gpt2->encode("Hello, world!"), (std::vector<int>{15496, 11, 995, 0}));
  const auto llama = open_tokenizer(data() / "tokenizers/ggml-vocab-llama-spm.gguf");
  EXPECT_EQ(llama->encode("Hello world"), (std::vector<int>{15043, 3186}));
}

}  // namespace
}  // namespace onceover
