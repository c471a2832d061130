#include "actors/report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hydra {

terminal terminal_of(int descriptor) {
  terminal t;
  const char* const kind = std::getenv("TERM");
  t.live = isatty(descriptor) == 1 && !(kind && std::string_view(kind) == "dumb");
  winsize size{};
  if (t.live && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1) {
    t.width = size.ws_col;
    t.height = size.ws_row;
  }
  return t;
}

}  // namespace hydra
