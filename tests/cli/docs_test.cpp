#include <gtest/gtest.h>

#include "cli/program.h"
#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

TEST(Docs, GeneratedPagesAreCurrent) {
  for (const std::string page : {"cli", "config"}) {
    const std::string path = (test::source_folder() / "docs" / (page + ".md")).string();
    EXPECT_TRUE(read_bytes(path) == run_program({"docs", page}).out)
        << path << " is not current; run: build/release/onceover docs " << page << " > docs/" << page
        << ".md";
  }
}

TEST(Docs, UnknownPageIsAMisuse) { EXPECT_EQ(run_program({"docs", "weather"}).status, 2); }

}  // namespace
}  // namespace onceover
