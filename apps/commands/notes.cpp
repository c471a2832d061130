#include "apps/commands/notes.hpp"

#include "runtime/base/tell_line.hpp"

#include <cstdio>

namespace hydra::apps {

void tell_notes(const std::vector<std::string>& notes) {
  std::fflush(stdout);  // stdout and stderr may be the same file
  for (const std::string& note : notes) tell_line("note: " + note);
}

}  // namespace hydra::apps
