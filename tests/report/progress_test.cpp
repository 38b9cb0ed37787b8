#include "report/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/utf8.h"
#include "report/drawn_text.h"

namespace onceover {
namespace {

// Plays a terminal of one bar line: what \r, erase to end of line and newline leave visible.
class Screen {
 public:
  void take(const std::string& text) {
    written_ += text;
    for (size_t at = 0; at < text.size();) {
      if (text.compare(at, 3, "\x1b[K") == 0) {
        line_.resize(column_);
        at += 3;
      } else if (text.compare(at, 2, "\x1b[") == 0) {
        cursor_visible_ = text.compare(at, 6, "\x1b[?25h") == 0;
        ASSERT_TRUE(cursor_visible_ || text.compare(at, 6, "\x1b[?25l") == 0) << "an unexpected escape code";
        at += 6;
      } else if (text[at] == '\r') {
        column_ = 0;
        at++;
      } else if (text[at] == '\n') {
        lines_.push_back(encoded());
        line_.clear();
        column_ = 0;
        at++;
      } else {
        line_.resize(std::max(line_.size(), column_ + 1));
        line_[column_++] = next_code_point(text, at);
      }
    }
  }
  std::string line() const { return encoded(); }
  const std::vector<std::string>& lines() const { return lines_; }
  bool cursor_visible() const { return cursor_visible_; }
  const std::string& written() const { return written_; }

 private:
  std::string encoded() const {
    std::string text;
    for (const char32_t code : line_) append_utf8(text, code);
    return text;
  }
  std::u32string line_;
  size_t column_ = 0;
  std::vector<std::string> lines_;
  bool cursor_visible_ = true;
  std::string written_;
};

struct Stage {
  Screen screen;
  double now = 100;
  int columns = 80;
  int writes = 0;

  Terminal terminal(bool escape_codes, bool unicode) {
    return {[this](std::string_view text) {
              writes++;
              screen.take(std::string(text));
            },
            [this] { return columns; }, escape_codes, unicode};
  }
  Progress::Clock clock() {
    return [this] { return now; };
  }
};

TEST(Progress, ShowsShareAmountRateRemainingTimeAndNote) {
  Stage stage;
  Progress progress({"train", "steps", 1000, 0}, stage.terminal(true, true), stage.clock());
  progress.update(0);
  stage.now += 10;
  progress.update(250, "loss 3.214");
  const std::string line = stage.screen.line();
  for (const char* part : {"train  ━", "─", " 25%  250/1000 steps", "25.0/s", "0:30 left", "loss 3.214"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
}

TEST(Progress, TheBarIsFilledInProportion) {
  Stage stage;
  stage.columns = 120;
  Progress progress({"", "", 100, 0}, stage.terminal(true, false), stage.clock());
  for (const int64_t done : {0, 25, 50, 100, 150}) {
    stage.now += 1;
    progress.update(done);
    const std::string line = stage.screen.line();
    const auto full = std::count(line.begin(), line.end(), '#'),
               empty = std::count(line.begin(), line.end(), '-');
    EXPECT_EQ(full + empty, 40);
    EXPECT_EQ(full, std::min<int64_t>(done, 100) * 40 / 100);
  }
}

TEST(Progress, RedrawsAtMostTenTimesASecond) {
  Stage stage;
  Progress progress({"train", "steps", 100000, 0}, stage.terminal(true, true), stage.clock());
  for (int i = 0; i < 10000; i++) {
    progress.update(i);
    stage.now += 0.001;
  }
  EXPECT_LE(stage.writes, 101);
  EXPECT_GE(stage.writes, 90);
}

TEST(Progress, NeverFillsTheWindowWhateverItsWidth) {
  Stage stage;
  Progress progress({"a 世界 name", "steps", 1000, 0}, stage.terminal(true, true), stage.clock());
  for (stage.columns = 1; stage.columns < 150; stage.columns++) {
    stage.now += 1;
    progress.update(stage.columns, "loss 3.2 世界 and more words than fit");
    EXPECT_LE(text_columns(stage.screen.line()), stage.columns - 1);
  }
}

TEST(Progress, EveryWriteLeavesTheCursorVisible) {
  Stage stage;
  Terminal terminal = stage.terminal(true, true);
  terminal.write = [&](std::string_view text) {
    stage.screen.take(std::string(text));
    EXPECT_TRUE(stage.screen.cursor_visible());
  };
  Progress progress({"train", "steps", 10, 0}, terminal, stage.clock());
  for (int i = 0; i < 10; i++, stage.now += 1) progress.update(i);
  progress.print("saved");
  progress.finish();
}

TEST(Progress, PrintedLinesStandAboveTheBar) {
  Stage stage;
  Progress progress({"train", "steps", 10, 0}, stage.terminal(true, true), stage.clock());
  progress.update(5);
  const std::string bar = stage.screen.line();
  progress.print("checkpoint saved");
  EXPECT_EQ(stage.screen.lines(), (std::vector<std::string>{"checkpoint saved"}));
  EXPECT_EQ(stage.screen.line(), bar);
}

TEST(Progress, FinishingLeavesOneSummaryLineAndNothingElse) {
  Stage stage;
  Progress progress({"train", "steps", 1000, 400}, stage.terminal(true, true), stage.clock());
  for (int64_t i = 400; i <= 1000; i++, stage.now += 0.5) progress.update(i, "loss 2.5");
  progress.finish();
  progress.finish();
  progress.update(5);
  EXPECT_EQ(stage.screen.lines(),
            (std::vector<std::string>{"train  100%  1000/1000 steps  in 5:00  2.0/s  loss 2.5"}));
  EXPECT_EQ(stage.screen.line(), "");
}

TEST(Progress, AnAbandonedBarIsCleared) {
  Stage stage;
  {
    Progress progress({"train", "steps", 10, 0}, stage.terminal(true, true), stage.clock());
    progress.update(5);
    EXPECT_NE(stage.screen.line(), "");
  }
  EXPECT_EQ(stage.screen.line(), "");
  EXPECT_TRUE(stage.screen.lines().empty());
}

TEST(Progress, ElsewhereItWritesPlainLinesThatGrowRarer) {
  Stage stage;
  std::vector<double> times;
  Terminal terminal = stage.terminal(false, false);
  terminal.write = [&](std::string_view text) {
    times.push_back(stage.now);
    stage.screen.take(std::string(text));
  };
  Progress progress({"train", "steps", 36000, 0}, terminal, stage.clock());
  for (int i = 0; i < 36000; i++, stage.now += 0.1) progress.update(i, "loss 3");
  progress.finish();
  EXPECT_EQ(stage.screen.written().find_first_of("\x1b\r"), std::string::npos);
  for (size_t i = 1; i + 1 < times.size(); i++) {
    EXPECT_GE(times[i] - times[i - 1], 0.999);
    EXPECT_LE(times[i] - times[i - 1], 60.2);
  }
  EXPECT_GT(times.size(), 60u);
  EXPECT_LT(times.size(), 130u);
}

TEST(Progress, TheRateOfAResumedRunLeavesOutWhatWasDoneBefore) {
  Stage stage;
  Progress progress({"", "steps", 2000, 1000}, stage.terminal(false, false), stage.clock());
  stage.now += 10;
  progress.update(1050);
  EXPECT_NE(stage.screen.lines().back().find("5.0/s"), std::string::npos);
  EXPECT_NE(stage.screen.lines().back().find("3:10 left"), std::string::npos);
}

TEST(Progress, TheRateFollowsTheLastHalfMinute) {
  Stage stage;
  Progress progress({"", "steps", 0, 0}, stage.terminal(true, false), stage.clock());
  int64_t done = 0;
  for (int i = 0; i < 100; i++, stage.now += 1) progress.update(done += 100);
  for (int i = 0; i < 40; i++, stage.now += 1) progress.update(done += 2);
  EXPECT_NE(stage.screen.line().find("  2.0/s"), std::string::npos) << stage.screen.line();
  EXPECT_EQ(stage.screen.line().find("left"), std::string::npos) << "no total, no remaining time";
}

TEST(Progress, UntrustedTextCannotSteerTheTerminal) {
  Stage stage;
  Progress progress({"evil\x1b[2J", "st\neps", 10, 0}, stage.terminal(false, true), stage.clock());
  progress.update(1, "a\rb\x1b]0;title\x07\nc\xFF");
  progress.print("\x1b[31mred");
  progress.finish();
  EXPECT_EQ(stage.screen.written().find_first_of("\x1b\r\x07"), std::string::npos);
  EXPECT_EQ(stage.screen.lines().size(), 3u);
}

TEST(Progress, AsciiTerminalsGetAsciiOnly) {
  Stage stage;
  stage.columns = 40;
  Progress progress({"世界", "étapes", 10, 0}, stage.terminal(true, false), stage.clock());
  progress.update(1, "naïve words beyond the end of the line");
  progress.print("ümlaut");
  progress.finish();
  for (const char c : stage.screen.written()) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Progress, ManyThreadsMayUpdateAtOnce) {
  Stage stage;
  std::atomic<int64_t> ticks = 0;
  Progress progress({"train", "steps", 4000, 0}, stage.terminal(true, true),
                    [&] { return 0.05 * static_cast<double>(ticks++); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&progress, t] {
      for (int i = 0; i < 1000; i++) progress.update(t * 1000 + i, "note");
      progress.print("line");
    });
  }
  for (auto& thread : threads) thread.join();
  progress.finish();
  EXPECT_EQ(stage.screen.lines().size(), 5u);
}

TEST(Progress, DurationsReadWell) {
  EXPECT_EQ(format_seconds(0), "0:00");
  EXPECT_EQ(format_seconds(187.9), "3:07");
  EXPECT_EQ(format_seconds(3723), "1:02:03");
  EXPECT_EQ(format_seconds(183600), "2d 3h");
  for (const double odd : {-1.0, 1e300, std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_EQ(format_seconds(odd), "?");
}

// A pseudo-terminal and the variables a terminal's user sets.
class TerminalOf : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
      ::unsetenv(name);
    }
    controller_ = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (controller_ < 0 || ::grantpt(controller_) != 0 || ::unlockpt(controller_) != 0)
      GTEST_SKIP() << "no pseudo-terminal here";
    terminal_ = ::open(::ptsname(controller_), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal_, 0);
    ::setenv("TERM", "xterm", 1);
  }
  void TearDown() override {
    if (terminal_ >= 0) ::close(terminal_);
    if (controller_ >= 0) ::close(controller_);
    for (const auto& [name, value] : before_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  int controller_ = -1, terminal_ = -1;
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(TerminalOf, ATerminalTakesEscapeCodesAndTellsItsWidth) {
  const winsize size{24, 57, 0, 0};
  ASSERT_EQ(::ioctl(controller_, TIOCSWINSZ, &size), 0);
  const Terminal terminal = Terminal::of(terminal_);
  EXPECT_TRUE(terminal.escape_codes);
  EXPECT_EQ(terminal.columns(), 57);
  terminal.write("hello");
  char buffer[16]{};
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(::read(controller_, buffer, sizeof buffer))), "hello");
}

TEST_F(TerminalOf, NoColorAndDumbTerminalsGetNoEscapeCodes) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Terminal::of(terminal_).escape_codes);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(Terminal::of(terminal_).escape_codes);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Terminal::of(terminal_).escape_codes);
  ::unsetenv("TERM");
  EXPECT_FALSE(Terminal::of(terminal_).escape_codes);
}

TEST_F(TerminalOf, APipeIsNoTerminalAndAClosedOneIsNoError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Terminal terminal = Terminal::of(ends[1]);
  EXPECT_FALSE(terminal.escape_codes);
  EXPECT_EQ(terminal.columns(), 80);
  ::close(ends[0]);
  ::close(ends[1]);
  terminal.write("dropped");
}

TEST_F(TerminalOf, TheFirstLocaleVariableDecidesOnUnicode) {
  EXPECT_FALSE(Terminal::of(terminal_).unicode);
  ::setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_TRUE(Terminal::of(terminal_).unicode);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(Terminal::of(terminal_).unicode);
}

}  // namespace
}  // namespace onceover
