#include "data/shard.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "data/shard_set.h"
#include "data/token_stream.h"
#include "support/errors.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

ShardContent random_content(std::mt19937& random, int vocab_size, size_t tokens) {
  ShardContent content{vocab_size, std::vector<int>(tokens), {}, 123};
  for (int& token : content.tokens) token = static_cast<int>(random() % static_cast<unsigned>(vocab_size));
  for (uint64_t end = 1 + random() % 9; end <= tokens; end += 1 + random() % 9)
    content.document_ends.push_back(end);
  return content;
}

void expect_refused(const std::filesystem::path& file, const TokenStreamOptions& options = {}) {
  EXPECT_THROW(TokenStream::open({file}, options), Error) << file;
}

TEST(Shard, GivesTokensAndDocumentsBack) {
  const Folder folder;
  std::mt19937 random(fresh_seed());
  for (const int vocab_size : {259, 65536, 65537, 1000000}) {
    const auto content = random_content(random, vocab_size, 1001);
    write_shard(folder.path() / "a.bin", content);
    const Shard shard(folder.path() / "a.bin");
    shard.verify();
    EXPECT_EQ(shard.token_bytes(), vocab_size <= 65536 ? 2 : 4);
    EXPECT_EQ(shard.source_bytes(), 123u);
    const auto stream = TokenStream::open({folder.path() / "a.bin"});
    std::vector<int32_t> tokens(stream.size());
    stream.read(0, tokens);
    EXPECT_EQ(tokens, content.tokens);
    EXPECT_EQ(stream.document_ends(0, stream.size()), content.document_ends);
  }
}

TEST(Shard, HeadersThatLieAreRefused) {
  const Folder folder;
  std::mt19937 random(fresh_seed());
  write_shard(folder.path() / "a.bin", random_content(random, 259, 100));
  const std::string good = folder.read("a.bin");
  const auto refused_with = [&](size_t at, uint64_t value, size_t size) {
    std::string bad = good;
    std::memcpy(&bad[at], &value, size);
    expect_refused(folder.write("bad.bin", bad));
  };
  refused_with(0, 'X', 1);                 // magic
  refused_with(8, 2, 4);                   // version
  refused_with(12, 4, 4);                  // bytes a token
  refused_with(16, 0, 8);                  // vocabulary
  refused_with(16, UINT64_MAX, 8);         //
  refused_with(24, 101, 8);                // tokens
  refused_with(24, UINT64_MAX, 8);         //
  refused_with(24, uint64_t{1} << 63, 8);  //
  refused_with(32, 0, 8);                  // documents
  refused_with(32, uint64_t{1} << 61, 8);  //
  refused_with(64 + 200, 0, 8);            // first document end
  refused_with(good.size() - 8, 101, 8);   // last document end
  expect_refused(folder.write("bad.bin", good + "x"));
  for (size_t size = 0; size < good.size(); size += 13)
    expect_refused(folder.write("bad.bin", good.substr(0, size)));
}

TEST(Shard, VerifyFindsAChangedToken) {
  const Folder folder;
  std::mt19937 random(fresh_seed());
  write_shard(folder.path() / "a.bin", random_content(random, 259, 100));
  std::string bytes = folder.read("a.bin");
  bytes[64 + random() % 200] ^= 1;
  EXPECT_THROW(Shard(folder.write("a.bin", bytes)).verify(), Error);
}

TEST(TokenStream, AnIdOutsideTheVocabularyIsAnErrorThatNamesTheFile) {
  const Folder folder;
  write_shard(folder.path() / "a.bin", {259, {1, 2, 259, 3}, {4}, 0});
  const auto stream = TokenStream::open({folder.path() / "a.bin"});
  std::vector<int32_t> tokens(2);
  stream.read(0, tokens);
  try {
    stream.read(1, tokens);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a.bin"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("259"), std::string::npos);
  }
  EXPECT_THROW(stream.read(3, tokens), Error);
  EXPECT_THROW(stream.read(UINT64_MAX, tokens), Error);
}

TEST(TokenStream, ReadsAcrossFiles) {
  const Folder folder;
  std::mt19937 random(fresh_seed());
  std::vector<int> tokens;
  std::vector<uint64_t> ends;
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 9; i++) {
    const auto content = random_content(random, 300, random() % 20 + (i == 0));
    for (const uint64_t end : content.document_ends) ends.push_back(tokens.size() + end);
    tokens.insert(tokens.end(), content.tokens.begin(), content.tokens.end());
    paths.push_back(folder.path() / fmt::format("{}.bin", i));
    write_shard(paths.back(), content);
  }
  const auto stream = TokenStream::open(paths);
  ASSERT_EQ(stream.size(), tokens.size());
  for (size_t begin = 0; begin < tokens.size(); begin++) {
    const size_t end = begin + random() % (tokens.size() - begin + 1);
    std::vector<int32_t> found(end - begin);
    stream.read(begin, found);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), tokens.begin() + static_cast<std::ptrdiff_t>(begin)));
    std::vector<uint64_t> expected;
    std::copy_if(ends.begin(), ends.end(), std::back_inserter(expected),
                 [&](uint64_t e) { return e > begin && e <= end; });
    EXPECT_EQ(stream.document_ends(begin, end), expected);
  }
}

std::string llmc_file(int32_t magic, int32_t version, int32_t count, const std::vector<uint16_t>& tokens) {
  std::string bytes(1024, '\0');
  std::memcpy(&bytes[0], &magic, 4);
  std::memcpy(&bytes[4], &version, 4);
  std::memcpy(&bytes[8], &count, 4);
  return bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * 2);
}

TEST(TokenStream, ReadsLlmCFiles) {
  const Folder folder;
  const auto stream = TokenStream::open({folder.write("a.bin", llmc_file(20240520, 1, 3, {5, 50256, 65535}))},
                                        {"", false, 0, 50256});
  std::vector<int32_t> tokens(3);
  stream.read(0, tokens);
  EXPECT_EQ(tokens, (std::vector<int32_t>{5, 50256, 65535}));
  EXPECT_EQ(stream.vocab_size(), 65536);
  EXPECT_EQ(stream.eos(), 50256);
  EXPECT_THROW(stream.document_ends(0, 3), Error);
}

TEST(TokenStream, LlmCHeadersThatLieAreRefused) {
  const Folder folder;
  const std::vector<uint16_t> tokens = {1, 2, 3};
  expect_refused(folder.write("a.bin", llmc_file(20240521, 1, 3, tokens)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 2, 3, tokens)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 1, 2, tokens)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 1, -1, tokens)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 1, INT32_MAX, tokens)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 1, 3, tokens).substr(0, 1000)));
  expect_refused(folder.write("a.bin", llmc_file(20240520, 1, 0, {})));
  expect_refused(folder.write("a.bin", ""));
}

TEST(TokenStream, PlainIdsAreReadOnRequestOnly) {
  const Folder folder;
  const auto file = folder.write("train.bin", std::string("\x01\x00\x02\x01", 4));
  expect_refused(file);
  TokenStreamOptions options;
  options.raw_uint16 = true;
  const auto stream = TokenStream::open({file}, options);
  std::vector<int32_t> tokens(2);
  stream.read(0, tokens);
  EXPECT_EQ(tokens, (std::vector<int32_t>{1, 258}));
  expect_refused(folder.write("odd.bin", "abc"), options);
}

TEST(TokenStream, AFolderWithAFalseDescriptionIsRefused) {
  const Folder folder;
  for (
      const char* meta :
      {"", "[]", "{}", R"({"format":"onceover-shards","version":2})",
       R"({"format":"onceover-shards","version":1,"settings":{},"heldout":{"shards":[]},"train":{"shards":[{"file":"../x","tokens":1,"documents":1,"source_bytes":1,"hash":"0000000000000000"}]}})",
       R"({"format":"onceover-shards","version":1,"settings":{},"heldout":{"shards":[]},"train":{"shards":[{"file":"x","tokens":-1}]}})",
       R"({"format":"onceover-shards","version":1,"settings":{},"heldout":{"shards":[]},"train":{"shards":[]}})"}) {
    folder.write("meta.json", meta);
    expect_refused(folder.path());
  }
}

TEST(ShardListing, TakesCountsOnly) {
  const auto listing = nlohmann::json::parse(
      R"({"file":"x","tokens":1,"documents":1,"source_bytes":1,"hash":"0000000000000000"})");
  EXPECT_EQ(shard_listing(listing, "f").tokens, 1u);
  for (const char* key : {"tokens", "documents", "source_bytes"}) {
    for (const nlohmann::json& wrong : {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(true)}) {
      auto damaged = listing;
      damaged[key] = wrong;
      EXPECT_TRUE(contains(error_of([&] { shard_listing(damaged, "f"); }), "must be a count")) << damaged;
    }
  }
}

}  // namespace
}  // namespace onceover
