#include "apps/steering/request_head.hpp"

#include "runtime/base/uninterrupted.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace hydra::apps {

namespace {

constexpr std::string_view empty_line = "\n\r\n";  // with the end of the line before

}  // namespace

void request_head::receive(int socket) {
  std::array<char, 4096> part;
  const std::size_t room = std::min(part.size(), most_ - text_.size());
  const auto n = uninterrupted([&] { return ::recv(socket, part.data(), room, MSG_DONTWAIT); });
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    state_ = state::gone;
    return;
  }
  const std::size_t searched = text_.size() - std::min(text_.size(), empty_line.size() - 1);
  text_.append(part.data(), static_cast<std::size_t>(n));
  if (text_.find(empty_line, searched) != std::string::npos)
    state_ = state::complete;
  else if (text_.size() == most_)
    state_ = state::too_long;
}

}  // namespace hydra::apps
