#pragma once
// The head of an HTTP request: the request line, the headers, and the empty line that ends them.

#include <cstddef>
#include <string>
#include <utility>

namespace hydra::apps {

/// Holds at most `most` bytes, whatever a client sends. Never blocks.
class request_head {
 public:
  enum class state { partial, complete, too_long, gone };

  explicit request_head(std::size_t most) noexcept : most_{most} {}

  state is() const noexcept { return state_; }
  bool begun() const noexcept { return !text_.empty(); }
  /// Takes what has arrived at the socket; not after the state has changed.
  void receive(int socket);
  /// Of a complete one: the head, and as much of the body as came with it.
  std::string take() noexcept { return std::move(text_); }

 private:
  std::size_t most_;
  std::string text_;
  state state_ = state::partial;
};

}  // namespace hydra::apps
