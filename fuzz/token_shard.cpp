// Any bytes as a file of tokens, ours or llm.c's: refused with an Error, or every token and document end may
// be read.
#include <cstdint>
#include <string>
#include <vector>

#include "answer.h"
#include "bytes_as_file.h"
#include "data/token_stream.h"

namespace onceover {
namespace {

void read_all(const TokenStream& stream) {
  std::vector<int32_t> tokens(stream.size());
  stream.read(0, tokens);
  for (const int32_t token : tokens) {
    if (token < 0 || token >= stream.vocab_size()) std::abort();
  }
  uint64_t before = 0;
  for (const uint64_t end : stream.document_ends(0, stream.size())) {
    if (end <= before || end > stream.size()) std::abort();
    before = end;
  }
}

}  // namespace
}  // namespace onceover

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  const std::string path = path_of(data, size);
  expect_answer([&] { read_all(TokenStream::open({path})); });
  expect_answer([&] { Shard(path).verify(); });
  return 0;
}
