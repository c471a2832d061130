#include "apps/steering/control_server.hpp"

#include "apps/steering/answer.hpp"
#include "apps/steering/command_thread.hpp"
#include "apps/steering/connection.hpp"
#include "apps/steering/folder_socket.hpp"
#include "apps/steering/wake_event.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
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

/// Of the server, from the moment at which it listens.
struct socket_file {
  std::filesystem::path folder;
  ~socket_file() { remove_socket(folder); }
};

}  // namespace

class control_server::loop {
 public:
  loop(steering& run, std::filesystem::path folder)
      : run_{run},
        listening_{listen_in(folder)},
        file_{std::move(folder)},
        commands_{std::in_place, run, [this](std::string text) { keep_answer(std::move(text)); }},
        thread_{[this] { serve_clients(); }} {}

  ~loop() {
    stopping_ = true;
    wake_.set();
    thread_.join();
    commands_.reset();
    if (executed_) give_answer();  // to the client that has ended the run
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
    wake_.clear();
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
      if (!is_quick(*c->pending) && executing_) return;
      const read_command command = *std::exchange(c->pending, std::nullopt);
      is_quick(command) ? c->line.answer(json_text(answer(run_, command))) : start(c, command);
    }
  }

  void start(const std::shared_ptr<client>& c, const read_command& command) {
    c->awaits_answer = true;
    asker_ = c;
    executing_ = true;
    commands_->execute(command);
  }

  /// On the thread of the commands.
  void keep_answer(std::string text) {
    answer_ = std::move(text);
    executed_ = true;
    wake_.set();
  }

  /// To the client that has asked, if it is still there.
  void give_answer() {
    executing_ = false;
    std::string text = std::move(answer_);
    const auto c = asker_.lock();
    if (!c) return;
    c->awaits_answer = false;
    c->line.answer(std::move(text));
  }

  steering& run_;
  std::vector<std::shared_ptr<client>> clients_;  ///< first: when they notice the end there is no socket any more
  descriptor listening_;
  socket_file file_;
  wake_event wake_;  ///< a command was executed, or this ends
  std::weak_ptr<client> asker_;
  bool executing_ = false;              ///< a command, whose answer is not given
  std::string answer_;                  ///< of that command, once it is executed
  std::atomic<bool> executed_ = false;  ///< set after `answer_`
  std::atomic<bool> stopping_ = false;
  bool scarce_ = false;  ///< no descriptor was left
  std::optional<command_thread> commands_;
  std::thread thread_;  ///< last: it uses the others
};

control_server::control_server(steering& run, const std::filesystem::path& folder)
    : loop_{std::make_unique<loop>(run, folder)} {}

control_server::~control_server() = default;

}  // namespace hydra::apps
