#include "report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/drawn_text.h"

namespace onceover {
namespace {

constexpr double redraw_seconds = 0.1;
constexpr double rate_window_seconds = 30;
constexpr double shortest_line_seconds = 1, longest_line_seconds = 60;

// One line, whatever the text holds: a name or a note may come from a file.
std::string one_line(std::string_view text) {
  std::string line = clean_text(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string ascii_only(std::string_view text) {
  std::string ascii;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    ascii += code < 0x80 ? static_cast<char>(code) : code == U'…' ? '~' : '?';
  }
  return ascii;
}

std::string format_rate(double rate) {
  if (!(rate > 0) || !std::isfinite(rate)) return "";
  if (rate < 1) return fmt::format("{:.1f} s each", 1 / rate);
  return rate < 1000 ? fmt::format("{:.1f}/s", rate) : format_count(rate) + "/s";
}

std::string join(const std::vector<std::string>& parts) {
  std::string line;
  for (const auto& part : parts) {
    if (!part.empty()) line += (line.empty() ? "" : "  ") + part;
  }
  return line;
}

}  // namespace

Progress::Progress(Work work, Terminal terminal, Clock clock)
    : work_{one_line(work.name), one_line(work.unit), work.total, work.already_done},
      terminal_(std::move(terminal)),
      clock_(clock ? std::move(clock) : steady_seconds),
      started_(clock_()),
      done_(work.already_done),
      samples_{{started_, work.already_done}},
      next_output_(started_) {}

Progress::~Progress() {
  std::lock_guard lock(mutex_);
  clear();
}

void Progress::update(int64_t done, std::string_view note) {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  done_ = done;
  note_ = one_line(note);
  const double now = clock_();
  if (now < next_output_) return;
  samples_.push_back({now, done});
  if (terminal_.escape_codes) {
    draw(now);
    next_output_ = now + redraw_seconds;
  } else {
    write_line(now);
    next_output_ = now + std::clamp((now - started_) / 10, shortest_line_seconds, longest_line_seconds);
  }
}

void Progress::print(std::string_view line) {
  std::lock_guard lock(mutex_);
  const bool redraw = on_screen_;
  clear();
  const std::string text = clean_text(line);
  terminal_.write((terminal_.unicode ? text : ascii_only(text)) + "\n");
  if (redraw) draw(clock_());
}

void Progress::finish() {
  std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  clear();
  const double seconds = clock_() - started_;
  const double rate = static_cast<double>(done_ - work_.already_done) / seconds;
  const std::string line =
      join({work_.name, amount(), "in " + format_seconds(seconds), format_rate(rate), note_});
  terminal_.write((terminal_.unicode ? line : ascii_only(line)) + "\n");
}

void Progress::draw(double now) {
  const int columns = terminal_.columns() - 1;  // a full line would wrap, and could then not be redrawn
  const double rate = recent_rate(now);
  const std::string tail = join({amount(), format_rate(rate), remaining(rate), note_});
  const int free = columns - text_columns(work_.name) - text_columns(tail) - 4;
  std::string line = shorten(join({work_.name, bar(std::min(free, 40)), tail}), columns);
  if (!terminal_.unicode) line = ascii_only(line);
  terminal_.write("\x1b[?25l\r\x1b[K" + line + "\x1b[?25h");
  on_screen_ = true;
}

void Progress::write_line(double now) {
  const double rate = recent_rate(now);
  const std::string line = join({work_.name, amount(), format_rate(rate), remaining(rate), note_});
  terminal_.write((terminal_.unicode ? line : ascii_only(line)) + "\n");
}

void Progress::clear() {
  if (on_screen_) terminal_.write("\r\x1b[K");
  on_screen_ = false;
}

double Progress::recent_rate(double now) {
  while (samples_.size() > 2 && now - samples_[1].seconds >= rate_window_seconds) samples_.pop_front();
  const Sample& first = samples_.front();
  return now > first.seconds ? static_cast<double>(done_ - first.done) / (now - first.seconds) : 0;
}

std::string Progress::bar(int columns) const {
  constexpr int shortest = 8;
  if (work_.total <= 0 || columns < shortest) return "";
  const double share = std::clamp(static_cast<double>(done_) / static_cast<double>(work_.total), 0.0, 1.0);
  const int full = static_cast<int>(share * columns);
  std::string text;
  for (int i = 0; i < columns; i++)
    text += terminal_.unicode ? (i < full ? "━" : "─") : (i < full ? "#" : "-");
  return text;
}

std::string Progress::amount() const {
  const std::string unit = work_.unit.empty() ? "" : " " + work_.unit;
  const auto count = [](int64_t n) {
    return n < 10000 ? fmt::format("{}", n) : format_count(static_cast<double>(n));
  };
  if (work_.total <= 0) return count(done_) + unit;
  const double percent =
      100 * std::clamp(static_cast<double>(done_) / static_cast<double>(work_.total), 0.0, 1.0);
  return fmt::format("{:3.0f}%  {}/{}{}", std::floor(percent), count(done_), count(work_.total), unit);
}

std::string Progress::remaining(double rate) const {
  if (work_.total <= 0 || done_ >= work_.total || !(rate > 0)) return "";
  return format_seconds(static_cast<double>(work_.total - done_) / rate) + " left";
}

std::string format_seconds(double seconds) {
  constexpr double longest = 1e9;
  if (!(seconds >= 0 && seconds <= longest)) return "?";
  const auto whole = static_cast<int64_t>(seconds);
  const int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{}d {}h", days, hours);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace onceover
