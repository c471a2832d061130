#include "apps/steering/control_server.hpp"

#include "apps/steering/answer.hpp"
#include "apps/steering/connection.hpp"
#include "apps/steering/folder_socket.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

constexpr std::size_t most_clients = 64;
constexpr int retry_ms = 1000;  // after the process had no descriptor left for a client

struct client {
  connection line;
  std::optional<read_command> pending{};  ///< waits until another command was executed
  bool awaits_answer = false;             ///< its command is being executed
  bool gone = false;                      ///< hung up

  short events() const noexcept {
    const bool reads = line.wants_input() && !pending && !awaits_answer;
    return static_cast<short>((reads ? POLLIN : 0) | (line.wants_output() ? POLLOUT : 0));
  }
  bool done() const noexcept { return gone || (line.done() && !pending && !awaits_answer); }
};

/// Does what poll has found. A client that hung up is known by that alone where nothing is read from it.
void serve(client& c, const pollfd& found) {
  if (found.revents & found.events & POLLOUT) return c.line.send();
  if (found.revents & found.events & POLLIN) return c.line.receive();
  if (found.revents & (POLLHUP | POLLERR)) c.gone = true;
}

/// It is executed at once, whatever others wait for.
bool is_quick(const read_command& c) { return !c.error.empty() || c.name == "status" || c.name == "quit"; }

}  // namespace

class control_server::loop {
 public:
  loop(steering& run, std::filesystem::path folder)
      : run_{run},
        folder_{std::move(folder)},
        listening_{listen_in(folder_)},
        wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
        thread_{[this] { serve_clients(); }} {}

  ~loop() {
    stopping_ = true;
    wake();
    thread_.join();
    if (executing_.valid()) give_answer();  // to the client that has ended the run
    remove_socket(folder_);
  }

 private:
  void serve_clients() {
    while (!stopping_) {
      wait_for_sockets();
      if (executed_.exchange(false)) give_answer();
      for (const auto& c : clients_) execute_commands(c);
      std::erase_if(clients_, [](const auto& c) { return c->done(); });
    }
  }

  void wait_for_sockets() {
    std::vector<pollfd> all{{wake_.number(), POLLIN, 0}, {scarce_ ? -1 : listening_.number(), POLLIN, 0}};
    for (const auto& c : clients_) all.push_back({c->line.number(), c->events(), 0});
    ::poll(all.data(), all.size(), scarce_ ? retry_ms : -1);
    scarce_ = false;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto drained = ::read(wake_.number(), &count, sizeof count);
    for (std::size_t i = 0; i < clients_.size(); ++i) serve(*clients_[i], all[i + 2]);
    if (all[1].revents != 0) accept_client();
  }

  void accept_client() {
    descriptor socket{::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
    scarce_ = !socket && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    if (!socket) return;
    auto c = std::make_shared<client>(client{connection{std::move(socket)}});
    if (clients_.size() < most_clients) return clients_.push_back(std::move(c));
    c->line.answer(json_text(error_answer(fmt::format("{} clients are connected, more are not served", most_clients))));
  }

  /// As many of the client's commands as are there, and can be executed now.
  void execute_commands(const std::shared_ptr<client>& c) {
    while (!c->awaits_answer) {
      if (!c->pending) {
        const auto line = c->line.next_line();
        if (!line) return;
        c->pending = parse_command(*line);
      }
      if (!is_quick(*c->pending) && executing_.valid()) return;
      const read_command command = *std::exchange(c->pending, std::nullopt);
      is_quick(command) ? c->line.answer(json_text(answer(run_, command))) : start(c, command);
    }
  }

  void start(const std::shared_ptr<client>& c, const read_command& command) {
    c->awaits_answer = true;
    asker_ = c;
    executing_ = std::async(std::launch::async, [this, command] {
      std::string text = json_text(answer(run_, command));
      executed_ = true;
      wake();
      return text;
    });
  }

  /// To the client that has asked, if it is still there.
  void give_answer() {
    std::string text = executing_.get();
    const auto c = asker_.lock();
    if (!c) return;
    c->awaits_answer = false;
    c->line.answer(std::move(text));
  }

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
  }

  steering& run_;
  std::filesystem::path folder_;
  descriptor listening_;
  descriptor wake_;  ///< an eventfd: a command was executed, or this ends
  std::vector<std::shared_ptr<client>> clients_;
  std::weak_ptr<client> asker_;
  std::future<std::string> executing_;  ///< the answer; valid until it is given
  std::atomic<bool> executed_ = false;
  std::atomic<bool> stopping_ = false;
  bool scarce_ = false;  ///< no descriptor was left
  std::thread thread_;   ///< last: it uses the others
};

control_server::control_server(steering& run, const std::filesystem::path& folder)
    : loop_{std::make_unique<loop>(run, folder)} {}

control_server::~control_server() = default;

}  // namespace hydra::apps
