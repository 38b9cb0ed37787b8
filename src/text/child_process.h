// Work whose failure must not end this process.
#pragma once
#include <functional>
#include <string>

namespace onceover {

// Runs `work` in a forked child and returns the string that it returns. An Error thrown there is thrown here;
// a child that dies otherwise is an Error that names `what` and the signal or exit code. Fork rules hold:
// other threads of this process do not exist in the child.
std::string run_in_child(const std::string& what, const std::function<std::string()>& work);

}  // namespace onceover
