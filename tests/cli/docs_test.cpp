#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/program.h"

namespace onceover {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Docs, GeneratedPagesAreCurrent) {
  for (const std::string page : {"cli", "config"}) {
    const std::string path = ONCEOVER_SOURCE_DIR "/docs/" + page + ".md";
    EXPECT_TRUE(read_file(path) == run_program({"docs", page}).out)
        << path << " is not current; run: build/release/onceover docs " << page << " > docs/" << page
        << ".md";
  }
}

TEST(Docs, UnknownPageIsAMisuse) { EXPECT_EQ(run_program({"docs", "weather"}).status, 2); }

}  // namespace
}  // namespace onceover
