#include "apps/commands/notes.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace hydra::apps {

void tell_notes(const report& r) {
  std::fflush(stdout);  // stdout and stderr may be the same file
  for (const std::string& note : r.notes) fmt::print(stderr, "note: {}\n", note);
}

}  // namespace hydra::apps
