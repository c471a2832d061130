#include "apps/steering/request_listener.hpp"

#include "apps/steering/request_head.hpp"
#include "apps/steering/wake_event.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <future>
#include <list>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

using std::chrono::steady_clock;

constexpr auto scarcity_pause = std::chrono::seconds{1};  // after the process had no descriptor left for a connection

struct visitor {
  descriptor socket;
  request_head head;
  steady_clock::time_point until;  ///< when the head must be complete
  std::atomic<bool> over = false;  ///< to be closed
  std::future<void> answered{};    ///< valid from the start of its thread on; last, because the thread uses the others

  bool sends_head() const noexcept { return !over && !answered.valid(); }
};

/// Does not wait for a client that does not read.
void turn_away(const descriptor& client, std::string_view status, const std::string& why) {
  const std::string text = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n",
      status, why.size() + 1, why);
  [[maybe_unused]] const auto sent = ::send(client.number(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

class request_listener::loop {
 public:
  loop(descriptor listening, answering answer, const listener_limits& limits)
      : listening_{std::move(listening)}, answer_{std::move(answer)}, limits_{limits} {
    ::fcntl(listening_.number(), F_SETFL, O_NONBLOCK);  // a connection may be gone between poll and accept
    thread_ = std::thread{[this] { serve_visitors(); }};
  }

  ~loop() {
    stopping_ = true;
    wake_.set();
    thread_.join();
    visitors_.remove_if([](const visitor& v) { return v.sends_head(); });
    const auto until = steady_clock::now() + limits_.grace;
    for (const visitor& v : visitors_)
      if (v.answered.valid()) v.answered.wait_until(until);
    for (const visitor& v : visitors_) ::shutdown(v.socket.number(), SHUT_RDWR);
  }

 private:
  void serve_visitors() {
    while (!stopping_) {
      const bool somebody_connects = wait_for_sockets();
      for (visitor& v : visitors_)
        if (v.sends_head()) judge(v);
      visitors_.remove_if([](const visitor& v) { return v.over.load(); });
      if (somebody_connects) accept_visitor();
    }
  }

  /// Takes what visitors have sent. True if somebody wants to connect.
  bool wait_for_sockets() {
    std::vector<pollfd> all{{wake_.number(), POLLIN, 0}, {scarce_ ? -1 : listening_.number(), POLLIN, 0}};
    for (const visitor& v : visitors_) all.push_back({v.sends_head() ? v.socket.number() : -1, POLLIN, 0});
    ::poll(all.data(), all.size(), wait_ms());
    scarce_ = false;
    wake_.clear();
    auto found = all.begin() + 2;
    for (visitor& v : visitors_)
      if (found++->revents != 0) v.head.receive(v.socket.number());
    return all[1].revents != 0;
  }

  /// -1: until something happens.
  int wait_ms() const {
    const auto now = steady_clock::now();
    const auto oldest = std::ranges::find_if(visitors_, &visitor::sends_head);  // all have the same patience
    if (oldest == visitors_.end() && !scarce_) return -1;
    auto until = scarce_ ? now + scarcity_pause : oldest->until;
    if (oldest != visitors_.end()) until = std::min(until, oldest->until);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(std::max(until, now) - now).count());
  }

  void judge(visitor& v) {
    switch (v.head.is()) {
      case request_head::state::complete:
        return start_answer(v);
      case request_head::state::too_long:
        turn_away(v.socket, "431 Request Header Fields Too Large",
                  fmt::format("the request line and the headers have at most {} bytes", limits_.head));
        break;
      case request_head::state::partial:
        if (steady_clock::now() < v.until) return;
        if (v.head.begun())  // else a browser has connected ahead of need, and would show the answer later
          turn_away(v.socket, "408 Request Timeout",
                    fmt::format("the request line and the headers must come within {} ms", limits_.patience.count()));
        break;
      case request_head::state::gone:
        break;
    }
    v.over = true;
  }

  void start_answer(visitor& v) try {
    v.answered = std::async(std::launch::async, [this, &v, received = v.head.take()]() mutable {
      try {
        answer_(v.socket.number(), std::move(received));
      } catch (...) {  // its client sees that the connection is closed
      }
      v.over = true;
      wake_.set();
    });
  } catch (const std::system_error&) {
    turn_away(v.socket, "503 Service Unavailable", "the process can have no thread to answer with");
    v.over = true;
  }

  void accept_visitor() {
    descriptor client{::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
    scarce_ = !client && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    if (!client) return;
    if (visitors_.size() >= limits_.connections)
      return turn_away(client, "503 Service Unavailable",
                       fmt::format("{} connections are open, more are not served", limits_.connections));
    visitors_.emplace_back(std::move(client), request_head{limits_.head}, steady_clock::now() + limits_.patience);
  }

  descriptor listening_;
  answering answer_;
  listener_limits limits_;
  wake_event wake_;  ///< an answer is over, or this ends
  std::list<visitor> visitors_;
  std::atomic<bool> stopping_ = false;
  bool scarce_ = false;  ///< no descriptor was left
  std::thread thread_;
};

request_listener::request_listener(descriptor listening, answering answer, const listener_limits& limits)
    : loop_{std::make_unique<loop>(std::move(listening), std::move(answer), limits)} {}

request_listener::~request_listener() = default;

}  // namespace hydra::apps
