#include "train/stop_signal.h"

namespace onceover {
namespace {

volatile sig_atomic_t stop_asked = 0;

void on_signal(int number) {
  if (stop_asked != 0) {
    signal(number, SIG_DFL);
    raise(number);  // delivered when this handler returns
  }
  stop_asked = 1;
}

}  // namespace

StopSignal::StopSignal() {
  stop_asked = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool StopSignal::asked() const { return stop_asked != 0; }

}  // namespace onceover
