#pragma once
// The door of the live page: who connects may be anybody, and may do anything.

#include "apps/steering/descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace hydra::apps {

/// What clients may cost.
struct listener_limits {
  std::size_t connections = 128;             ///< open at a time; more are refused with status 503
  std::size_t head = 16384;                  ///< bytes of a request line and all headers; else 431
  std::chrono::milliseconds patience{3000};  ///< from accepting a connection to the end of the head; else 408
  std::chrono::milliseconds grace{2000};     ///< at the end, for answers that are under way
};

/// Accepts connections and reads the head of one request from each, all on one thread, so that a client that sends
/// slowly, or nothing, holds a few kilobytes and no thread. A request whose head is complete is answered on a thread of
/// its own, made then; its connection is closed afterwards.
class request_listener {
 public:
  /// Gets a connection and what has arrived: a whole head, and perhaps some of the body. Called by several threads at a
  /// time.
  using answering = std::function<void(int socket, std::string received)>;

  /// Throws fault_error{io}, std::system_error if the process can have no descriptor or no thread for it.
  request_listener(descriptor listening, answering answer, const listener_limits& limits = {});
  /// Closes the connections whose head is not complete, and waits for answers that are under way; when `grace` is over,
  /// their connections are shut down: who reads or writes then fails at once.
  ~request_listener();

 private:
  class loop;
  std::unique_ptr<loop> loop_;
};

}  // namespace hydra::apps
