// What every verb shares: the streams, the messages, the exit codes.
#include "cli/program.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/places.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// Exit status of a shell command in which $ONCEOVER is the program.
int shell(const std::string& command) {
  setenv("ONCEOVER", test::program().c_str(), 1);
  const int status = std::system(("( " + command + " ) 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Program, OutputThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(shell("$ONCEOVER explain yoco-u-tiny > /dev/full"), 1);
  EXPECT_EQ(shell("$ONCEOVER explain yoco-u-tiny >&-"), 1);
  EXPECT_EQ(shell("$ONCEOVER --help > /dev/full"), 1);
  EXPECT_EQ(shell("$ONCEOVER explain yoco-u-tiny > /dev/null"), 0);
}

// A file opened under the number of a closed stream would receive what is printed there.
TEST(Program, ClosedStreamsNeverLeadIntoFiles) {
  const TemporaryFolder folder;
  const std::string checkpoint = (folder / "fresh").string();
  shell("$ONCEOVER init yoco-tiny " + checkpoint + " <&- >&- 2>&-");
  EXPECT_EQ(run_program({"inspect", checkpoint, "--verify"}).status, 0);
}

TEST(Program, AnUnknownVerbIsNamedWithTheNearest) {
  const ProgramResult result = run_program({"explian", "yoco-u-tiny"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE((result.out + result.err).find("did you mean 'explain'"), std::string::npos)
      << result.out << result.err;
}

TEST(Program, MessagesCarryNoTerminalCodes) {
  const TemporaryFolder folder;
  const std::string path = (folder / "config.json").string();
  write_bytes(path, R"({"architecture": "\u001b[31mred"})");
  const ProgramResult result = run_program({"explain", path});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("red"), std::string::npos) << result.err;
}

TEST(Program, AFileThatIsNoJsonIsCalledWhatItLooksLike) {
  const TemporaryFolder folder;
  const std::string path = (folder / "config.json").string();
  write_bytes(path, "<!DOCTYPE html><html><body>404</body></html>");
  EXPECT_NE(run_program({"explain", path}).err.find("HTML page"), std::string::npos);
}

}  // namespace
}  // namespace onceover
