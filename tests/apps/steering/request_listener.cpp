#include "apps/steering/request_listener.hpp"

#include "tests/apps/steering/socket_client.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

using namespace std::chrono_literals;

constexpr auto no_deadline = 1h;  // in tests of something else
const std::string small_request = "GET / HTTP/1.1\r\n\r\n";

void send_text(int socket, std::string_view text) { ::send(socket, text.data(), text.size(), MSG_NOSIGNAL); }

/// Answers each request by what was received from it.
struct echoing_port {
  explicit echoing_port(const listener_limits& limits) : echoing_port{limits, send_text} {}
  echoing_port(const listener_limits& limits, request_listener::answering answer) {
    descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(socket.number(), SOMAXCONN) == 0);
    REQUIRE(::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port = ntohs(at.sin_port);
    listener.emplace(std::move(socket), std::move(answer), limits);
  }

  std::string answer_to(const std::string& request) const {
    socket_client client{port};
    client.send(request);
    return client.receive_all();
  }

  int port = 0;
  std::optional<request_listener> listener;
};

/// A head of so many bytes.
std::string head_of(std::size_t bytes) {
  const std::string begin = "GET / HTTP/1.1\r\nX: ", end = "\r\n\r\n";
  return begin + std::string(bytes - begin.size() - end.size(), 'x') + end;
}

/// As many connections as there may be. None has sent a head.
std::vector<socket_client> full_house(const echoing_port& p) {
  std::vector<socket_client> all;
  while (all.size() < listener_limits{}.connections) {
    all.emplace_back(p.port);
    all.back().send("GET / HT");
  }
  return all;
}

}  // namespace

TEST_CASE("a request is answered when its head is complete, in whatever pieces it comes") {
  const echoing_port p{{.patience = no_deadline}};
  CHECK(p.answer_to(small_request) == small_request);
  CHECK(p.answer_to(small_request + "{\"a\": 1}") == small_request + "{\"a\": 1}");
  socket_client other{p.port};
  for (const char byte : head_of(200)) other.send({&byte, 1});
  CHECK(other.receive_all() == head_of(200));
}

TEST_CASE("a head of 16 KiB is read, and of a longer one no byte more") {
  std::atomic<int> answered = 0;
  const echoing_port p{{.patience = no_deadline}, [&](int socket, const std::string& received) {
                         ++answered;
                         send_text(socket, std::to_string(received.size()));
                       }};
  CHECK(p.answer_to(head_of(16384)) == "16384");
  const std::string refused = p.answer_to(head_of(16385));
  CHECK_THAT(refused, StartsWith("HTTP/1.1 431 ") && Contains("at most 16384 bytes"));
  CHECK(answered == 1);
}

TEST_CASE("a head without an end is refused while its client still sends") {
  const echoing_port p{{.patience = no_deadline}};
  for (const std::string piece : {"x", "X: y\r\n", "\n", "\r"}) {
    socket_client client{p.port};
    std::string much;
    while (much.size() < 20000) much += piece;
    while (client.send(much)) {  // until the connection is closed
    }
    CHECK_THAT(client.receive_all(), StartsWith("HTTP/1.1 431 "));
  }
  CHECK(p.answer_to(small_request) == small_request);
}

TEST_CASE("a connection more than there may be is refused at once, until one has left") {
  const echoing_port p{{.patience = no_deadline}};
  auto all = full_house(p);
  CHECK_THAT(socket_client{p.port}.receive_all(), StartsWith("HTTP/1.1 503 ") && Contains("128 connections are open"));
  all.front().send("TP/1.1\r\n\r\n");
  CHECK(all.front().receive_all() == "GET / HTTP/1.1\r\n\r\n");
  CHECK(p.answer_to(small_request) == small_request);
}

TEST_CASE("whoever hangs up leaves a place for another") {
  const echoing_port p{{.connections = 1, .patience = no_deadline}};
  for (const std::string sent : {"", "GET /"}) {
    socket_client client{p.port};
    client.send(sent);
    client.hang_up();
    CHECK(client.receive_all().empty());
  }
  CHECK(p.answer_to(small_request) == small_request);
}

TEST_CASE("a head must be complete in time, however steadily its bytes come") {
  const echoing_port p{{.head = std::size_t{1} << 40, .patience = 10ms}};
  CHECK(socket_client{p.port}.receive_all().empty());
  std::string answer;
  while (answer.empty()) {  // on a busy machine the first byte may be late
    socket_client steady{p.port};
    while (steady.send("x")) {  // until the connection is closed
    }
    answer = steady.receive_all();
  }
  CHECK_THAT(answer, StartsWith("HTTP/1.1 408 ") && Contains("within 10 ms"));
}

TEST_CASE("an answer may take longer than a head") {
  const echoing_port p{{.patience = 10ms}, [](int socket, const std::string&) {
                         send_text(socket, "begun\n");
                         char word[2];
                         ::recv(socket, word, sizeof word, MSG_WAITALL);
                         send_text(socket, "done");
                       }};
  std::optional<socket_client> slow;
  do {  // on a busy machine a head may be late
    slow.emplace(p.port);
    slow->send(small_request);
  } while (slow->receive() != "begun");
  CHECK(socket_client{p.port}.receive_all().empty());  // its time is over
  slow->send("go");
  CHECK(slow->receive_all() == "done");
}

TEST_CASE("the end waits neither for heads nor for bodies that do not come") {
  echoing_port p{{.patience = no_deadline, .grace = 10ms}, [](int socket, const std::string& received) {
                   send_text(socket, received);
                   char byte = 0;
                   while (::recv(socket, &byte, 1, 0) > 0) {
                   }
                 }};
  auto all = full_house(p);
  for (std::size_t i = 0; i < 64; ++i) all[i].send("TP/1.1\r\n\r\n");
  for (std::size_t i = 0; i < 64; ++i) CHECK(all[i].receive() == "GET / HTTP/1.1\r");  // its answer is under way
  p.listener.reset();
  for (std::size_t i = 64; i < all.size(); ++i) CHECK(all[i].receive_all().empty());
}

TEST_CASE("an answer that is under way at the end is finished") {
  std::promise<void> begun;
  echoing_port p{{.patience = no_deadline, .grace = no_deadline}, [&](int socket, const std::string&) {
                   begun.set_value();
                   char word[2];
                   ::recv(socket, word, sizeof word, MSG_WAITALL);
                   send_text(socket, "done");
                 }};
  socket_client served{p.port}, stranger{p.port};
  served.send(small_request);
  begun.get_future().wait();
  std::thread end{[&] { p.listener.reset(); }};
  CHECK(stranger.receive_all().empty());  // the end has begun
  served.send("go");
  CHECK(served.receive_all() == "done");
  end.join();
}

TEST_CASE("an answer that fails closes its connection, and no other") {
  const echoing_port p{{.patience = no_deadline}, [](int socket, const std::string& received) {
                         if (received != small_request) throw std::runtime_error("failed");
                         send_text(socket, received);
                       }};
  CHECK(p.answer_to(head_of(100)).empty());
  CHECK(p.answer_to(small_request) == small_request);
}

}  // namespace hydra::apps
