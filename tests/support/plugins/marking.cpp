#include <cstdio>

namespace {

/// No plug-in of Hydra, but code that runs when it is loaded: it makes the file "mark" in the working directory.
[[gnu::constructor]] void leave_mark() {
  if (std::FILE* const file = std::fopen("mark", "w")) {
    std::fclose(file);
  }
}

}  // namespace
