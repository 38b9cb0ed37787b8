// The child sends one mark, 'R' (result) or 'E' (error message), then the bytes, through a pipe that its exit
// closes.
#include "text/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace onceover {
namespace {

void send_all(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(pipe, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // the parent is gone, so nobody waits for the answer
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

[[noreturn]] void work_and_exit(int pipe, const std::function<std::string()>& work) {
  std::string answer;
  try {
    answer.append(1, 'R').append(work());
  } catch (const std::exception& e) {
    answer.assign(1, 'E').append(e.what());
  }
  send_all(pipe, answer);
  _exit(0);
}

std::string receive_all(int pipe) {
  std::string bytes;
  std::array<char, 65536> block{};
  for (;;) {
    const ssize_t got = read(pipe, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(block.data(), static_cast<size_t>(got));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string run_in_child(const std::string& what, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error("{}: no pipe: {}", what, std::strerror(errno));
  FileDescriptor reading(ends[0]), writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw Error("{}: no child process: {}", what, std::strerror(errno));
  if (child == 0) {
    reading.close();
    work_and_exit(writing.get(), work);
  }
  writing.close();
  const std::string answer = receive_all(reading.get());
  const int status = wait_for(child);
  if (WIFSIGNALED(status))
    throw Error("{}: ended by signal {} ({})", what, WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0 || answer.empty())
    throw Error("{}: ended with exit code {}", what, WEXITSTATUS(status));
  if (answer[0] == 'E') throw Error("{}", answer.substr(1));
  return answer.substr(1);
}

}  // namespace onceover
