#pragma once
// Runs a part of a test in a process of its own, for code that ends the process.

#include <functional>
#include <string>

namespace hydra::test {

struct child_end {
  int status = -1;    ///< exit status; 1000 + the signal that killed it
  std::string err{};  ///< stderr
};

/// Runs `body` in a forked child whose exit status is the result, and waits for it. A child that hangs dies of SIGALRM.
child_end in_child(const std::function<int()>& body);

}  // namespace hydra::test
