#include "tests/apps/steering/socket_client.hpp"

#include "apps/steering/folder_socket.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

namespace hydra::apps {

namespace {

/// At 127.0.0.1.
descriptor connect_to(int port) {
  descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  return socket;
}

}  // namespace

socket_client::socket_client(descriptor connected) : socket_{std::move(connected)} {
  REQUIRE(socket_);
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

socket_client::socket_client(const std::filesystem::path& folder) : socket_client{connect_in(folder)} {}

socket_client::socket_client(int port) : socket_client{connect_to(port)} {}

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

std::string socket_client::receive_all() {
  std::array<char, 4096> part;
  for (ssize_t n = 0; (n = ::recv(socket_.number(), part.data(), part.size(), 0)) > 0;)
    received_.append(part.data(), static_cast<std::size_t>(n));
  return std::exchange(received_, {});
}

void socket_client::hang_up() const { ::shutdown(socket_.number(), SHUT_WR); }

std::string socket_client::ask(const std::string& line) {
  send(line + "\n");
  return receive();
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
}

}  // namespace hydra::apps
