// Ctrl-C and SIGTERM as a wish: the first asks, the second ends the program at once.
#pragma once
#include <signal.h>

namespace onceover {

// Handles SIGINT and SIGTERM while it lives. One at a time in a process.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool asked() const;

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace onceover
