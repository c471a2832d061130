#include "apps/bench/tls_socket.hpp"

#include "runtime/base/fault.hpp"

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

constexpr std::size_t piece = 256 << 10;

void require(bool good, const char* what) {
  if (!good) throw fault_error{fault_code::io, std::string{"TLS over loopback: "} + what};
}

struct freed {
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
  void operator()(SSL* s) const { SSL_free(s); }
};

std::unique_ptr<SSL_CTX, freed> context(const SSL_METHOD* method, const cluster_keys& keys) {
  std::unique_ptr<SSL_CTX, freed> c{SSL_CTX_new(method)};
  require(c && SSL_CTX_use_certificate_chain_file(c.get(), keys.certificate.c_str()) == 1 &&
              SSL_CTX_use_PrivateKey_file(c.get(), keys.key.c_str(), SSL_FILETYPE_PEM) == 1 &&
              SSL_CTX_load_verify_locations(c.get(), keys.authority.c_str(), nullptr) == 1,
          "keys");
  SSL_CTX_set_verify(c.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return c;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

}  // namespace

struct tls_listener::state {
  std::unique_ptr<SSL_CTX, freed> keys;
  int socket = -1;
  std::uint16_t port = 0;
};

tls_listener::tls_listener(const cluster_keys& keys) : state_{std::make_unique<state>()} {
  state_->keys = context(TLS_server_method(), keys);
  state_->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  require(::bind(state_->socket, reinterpret_cast<sockaddr*>(&at), size) == 0 && ::listen(state_->socket, 1) == 0 &&
              ::getsockname(state_->socket, reinterpret_cast<sockaddr*>(&at), &size) == 0,
          "listen");
  state_->port = ntohs(at.sin_port);
}

tls_listener::~tls_listener() { ::close(state_->socket); }

std::uint16_t tls_listener::port() const { return state_->port; }

void tls_listener::send(std::uint64_t bytes) {
  const int peer = ::accept4(state_->socket, nullptr, nullptr, SOCK_CLOEXEC);
  const std::unique_ptr<SSL, freed> s{SSL_new(state_->keys.get())};
  require(SSL_set_fd(s.get(), peer) == 1 && SSL_accept(s.get()) == 1, "accept");
  const std::vector<char> data(piece, 'x');
  while (bytes > 0) {
    const int sent = SSL_write(s.get(), data.data(), static_cast<int>(std::min<std::uint64_t>(piece, bytes)));
    require(sent > 0, "write");
    bytes -= static_cast<std::uint64_t>(sent);
  }
  SSL_shutdown(s.get());
  ::close(peer);
}

void receive_over_tls(const cluster_keys& keys, std::uint16_t port, std::uint64_t bytes) {
  const auto c = context(TLS_client_method(), keys);
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = loopback(port);
  require(::connect(peer, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "connect");
  const std::unique_ptr<SSL, freed> s{SSL_new(c.get())};
  require(SSL_set_fd(s.get(), peer) == 1 && SSL_connect(s.get()) == 1, "connect");
  std::vector<char> data(piece);
  while (bytes > 0) {
    const int got = SSL_read(s.get(), data.data(), static_cast<int>(data.size()));
    require(got > 0, "read");
    bytes -= static_cast<std::uint64_t>(got);
  }
  ::close(peer);
}

}  // namespace hydra::apps
