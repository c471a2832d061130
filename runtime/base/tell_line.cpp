#include "runtime/base/tell_line.hpp"

#include "runtime/base/shown_text.hpp"

#include <cstdio>

namespace hydra {

void tell_line(std::string_view text) noexcept { std::fputs((printable(text) + "\n").c_str(), stderr); }

}  // namespace hydra
