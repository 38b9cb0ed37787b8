// Shows how far a long piece of work has come: a bar with rate and remaining time on a terminal, plain lines
// elsewhere.
//
//   train  ━━━━━━━━━━━━━━━━──────────────  52%  5.20K/10.0K steps  41.3/s  1:56 left  loss 3.214
//
// On a terminal the line is redrawn in place at most 10 times a second. Each redraw hides the cursor and
// shows it again in one write, so that even a crash leaves a usable terminal. Elsewhere a line is written
// when a tenth more time has passed since the start than at the last one, with at least 1 s and at most 60 s
// between lines; no escape codes. Thread-safe: any thread may call any function.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "report/terminal.h"

namespace onceover {

class Progress {
 public:
  struct Work {
    std::string name;          // "train"
    std::string unit;          // "steps"
    int64_t total = 0;         // 0: unknown, then no bar and no remaining time
    int64_t already_done = 0;  // by an earlier, resumed run: not part of the rate
  };
  using Clock = std::function<double()>;  // seconds, never falling

  Progress(Work work, Terminal terminal, Clock clock = {});
  ~Progress();  // clears the bar when finish() was not called
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` stands at the end of the line: "loss 3.214". Cut where the window ends.
  void update(int64_t done, std::string_view note = {});
  // A line of its own, above the bar.
  void print(std::string_view line);
  // Clears the bar and writes one last line: how much was done, how long it took, the mean rate, the note.
  // Once only.
  void finish();

 private:
  struct Sample {
    double seconds;
    int64_t done;
  };

  void draw(double now);
  void write_line(double now);
  void clear();
  double recent_rate(double now);
  std::string bar(int columns) const;
  std::string amount() const;
  std::string remaining(double rate) const;

  const Work work_;
  const Terminal terminal_;
  const Clock clock_;
  const double started_;
  std::mutex mutex_;
  int64_t done_;
  std::string note_;
  std::deque<Sample> samples_;  // of the last 30 s
  double next_output_;
  bool on_screen_ = false;
  bool finished_ = false;
};

// 187 -> "3:07", 3723 -> "1:02:03", 183600 -> "2d 3h". "?" when it is not a finite number of 0 or more.
std::string format_seconds(double seconds);

}  // namespace onceover
