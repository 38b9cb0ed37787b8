// Runs the built program as a user would.
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/places.h"

namespace onceover {

struct ProgramResult {
  int status;  // exit status; 128 + signal when killed
  std::string out, err;
  int64_t peak_rss_kib;
};

using TemporaryFile = std::unique_ptr<FILE, int (*)(FILE*)>;

inline std::string content(FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  return text;
}

// `input`: a path that standard input reads from; "" = closed.
inline ProgramResult run_program(const std::vector<std::string>& arguments,
                                 const std::string& input = "/dev/null") {
  const TemporaryFile out(std::tmpfile(), &std::fclose), err(std::tmpfile(), &std::fclose);
  if (!out || !err) throw std::runtime_error("no temporary file");
  std::vector<std::string> words = {test::program().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(STDIN_FILENO);
    if (!input.empty() && open(input.c_str(), O_RDONLY) != STDIN_FILENO) _exit(126);
    dup2(fileno(out.get()), STDOUT_FILENO);
    dup2(fileno(err.get()), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child)
    throw std::runtime_error("cannot run the program");
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, content(out.get()), content(err.get()), usage.ru_maxrss};
}

}  // namespace onceover
