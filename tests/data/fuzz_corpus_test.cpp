// The seeds of fuzz/token_shard.cpp: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "data/token_stream.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfTokenFilesIsAnsweredAsEver) {
  const TemporaryFolder folder;
  const auto names = accepted_seeds("token_shard", [&](const std::string& bytes) {
    write_bytes(folder / "f", bytes);
    const auto stream = TokenStream::open({folder / "f"});
    std::vector<int32_t> tokens(stream.size());
    stream.read(0, tokens);
  });
  EXPECT_EQ(names, (std::set<std::string>{"llmc", "ok", "other_hash", "wide"}));
}

TEST(FuzzCorpus, OfTokenFilesHoldsOneWhoseHashFitsAndOneWhoseHashDoesNot) {
  const auto seeds = fuzz_corpus("token_shard");
  EXPECT_NO_THROW(Shard(seeds / "ok.bin").verify());
  EXPECT_THROW(Shard(seeds / "other_hash.bin").verify(), Error);
}

}  // namespace
}  // namespace onceover
