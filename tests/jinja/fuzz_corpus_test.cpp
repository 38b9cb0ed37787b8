// The seeds of fuzz/jinja_template.cpp: each is still answered with success or an Error.
#include "support/fuzz_corpus.h"

#include <gtest/gtest.h>

#include "jinja/oracle.h"

namespace onceover {
namespace {

TEST(FuzzCorpus, OfTemplatesIsAnsweredAsEver) {
  const auto names = accepted_seeds("jinja_template", [](const std::string& bytes) {
    const jinja::Rendered rendered = render(bytes);
    EXPECT_TRUE(rendered.input.empty());
  });
  EXPECT_GE(names.size(), 20U);
}

}  // namespace
}  // namespace onceover
