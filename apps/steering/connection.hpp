#pragma once
// One client of the control socket: lines in, lines out, both bounded.

#include "apps/steering/descriptor.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace hydra::apps {

/// Holds at most one line that is too long and one answer: while an answer is not sent, nothing is read, so that a
/// client that never reads costs no more. Never blocks.
class connection {
 public:
  explicit connection(descriptor socket) noexcept : socket_{std::move(socket)} {}

  int number() const noexcept { return socket_.number(); }
  bool wants_input() const noexcept { return !over_ && out_.empty() && !has_line(); }
  bool wants_output() const noexcept { return !out_.empty(); }
  /// Nothing is left to read or to send.
  bool done() const noexcept { return broken_ || (over_ && out_.empty() && !has_line()); }

  /// Reads what is there. A line longer than longest_command is answered by an error, and is the last one.
  void receive();
  /// The next whole line without its end, if there is one and the last answer has been sent; empty lines are skipped.
  std::optional<std::string> next_line();
  /// Sends a line, as far as the client takes it now; `send` sends the rest.
  void answer(std::string line);
  void send();

 private:
  bool has_line() const noexcept { return line_end_ != std::string::npos; }
  void find_line();
  void refuse_line();

  descriptor socket_;
  std::string in_;
  std::size_t taken_ = 0;                     ///< so many bytes of it are lines that were taken
  std::size_t searched_ = 0;                  ///< where the next end of a line is searched
  std::size_t line_end_ = std::string::npos;  ///< of the first line that was not taken
  std::string out_;
  bool over_ = false;    ///< no input any more
  bool broken_ = false;  ///< no output any more
};

}  // namespace hydra::apps
