#include "apps/steering/http_server.hpp"

#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace hydra::apps {

namespace {

constexpr timeval client_patience{.tv_sec = 2, .tv_usec = 0};  // with one that neither reads nor sends the body

/// Not the library's: those would let a second program listen at the same port. No program that the run starts inherits
/// it.
void set_options(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

/// Renames the header Range, which a server may ignore. The library matches it by a std::regex, before it asks whether
/// the request is allowed: 8 kB of digits take 4 MB of stack.
void ignore_ranges(std::string& received) {
  constexpr std::string_view name = "\nrange:";
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == b; };
  const auto end = std::next(received.begin(), static_cast<std::ptrdiff_t>(received.find("\n\r\n")));
  for (auto at = received.begin(); (at = std::search(at, end, name.begin(), name.end(), same)) != end;) *++at = '-';
}

/// What was received, then what comes.
class request_stream : public httplib::Stream {
 public:
  request_stream(int socket, std::string received) : socket_{socket}, received_{std::move(received)} {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }

  ssize_t read(char* to, size_t size) override {
    if (taken_ == received_.size()) return uninterrupted([&] { return ::recv(socket_, to, size, 0); });
    const std::size_t n = received_.copy(to, size, taken_);
    taken_ += n;
    return static_cast<ssize_t>(n);
  }

  ssize_t write(const char* from, size_t size) override {
    return uninterrupted([&] { return ::send(socket_, from, size, MSG_NOSIGNAL); });
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  /// The library refuses numbers that its select could not take, which is not used here.
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  int socket_;
  std::string received_;
  std::size_t taken_ = 0;
};

}  // namespace

int http_server::open(const std::string& host, int port) {
  set_socket_options(set_options);
  errno = 0;
  if (port == 0)
    port = bind_to_any_port(host);
  else if (!bind_to_port(host, port))
    port = -1;
  if (port < 0) return -1;
  descriptor listening{svr_sock_.load()};
  ::listen(listening.number(), SOMAXCONN);  // the library lets 5 wait: more at once would try again after seconds
  listener_.emplace(std::move(listening),
                    [this](int socket, std::string received) { answer(socket, std::move(received)); });
  return port;
}

void http_server::answer(int socket, std::string received) {
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
    ::setsockopt(socket, SOL_SOCKET, direction, &client_patience, sizeof client_patience);
  ignore_ranges(received);
  request_stream stream{socket, std::move(received)};
  bool closed = false;
  process_request(stream, true, closed, nullptr);
}

}  // namespace hydra::apps
