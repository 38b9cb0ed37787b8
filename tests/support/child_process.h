// Runs a piece of a test in a forked child, where it may lower limits, drop rights or be killed.
#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>

namespace onceover {

struct ChildEnd {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string message;  // what the child returned, or the text of its exception
};

// exit_code 0 when f() returned, 1 when it threw.
template <class F>
ChildEnd fork_and_wait(F f) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    std::string message;
    try {
      message = f();
    } catch (const std::exception& e) {
      code = 1;
      message = e.what();
    }
    const bool sent =
        write(pipe_ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    _exit(sent ? code : 99);
  }
  close(pipe_ends[1]);
  ChildEnd end;
  char buffer[512];
  for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    end.message.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

}  // namespace onceover
