#include "tests/apps/steering/socket_client.hpp"

#include "apps/steering/folder_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <catch2/catch.hpp>

#include <array>
#include <iterator>

namespace hydra::apps {

socket_client::socket_client(const std::filesystem::path& folder) : socket_{connect_in(folder)} {
  REQUIRE(socket_);
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

bool socket_client::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto n = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::size_t socket_client::send_without_waiting(std::string_view bytes) const {
  const auto n = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

std::string socket_client::receive() {
  std::array<char, 4096> part;
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    const auto n = ::recv(socket_.number(), part.data(), part.size(), 0);
    if (n <= 0) return "";
    received_.append(part.data(), static_cast<std::size_t>(n));
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string socket_client::ask(const std::string& line) {
  send(line + "\n");
  return receive();
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
}

}  // namespace hydra::apps
