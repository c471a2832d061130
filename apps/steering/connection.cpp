#include "apps/steering/connection.hpp"

#include "apps/steering/answer.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>

namespace hydra::apps {

void connection::receive() {
  std::array<char, 65536> part;
  const auto n = uninterrupted([&] { return ::recv(number(), part.data(), part.size(), MSG_DONTWAIT); });
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    over_ = true;
    return;
  }
  in_.erase(0, taken_);
  searched_ -= std::exchange(taken_, 0);
  in_.append(part.data(), static_cast<std::size_t>(n));
  find_line();
  if ((has_line() ? line_end_ : in_.size()) - taken_ > longest_command) refuse_line();
}

void connection::refuse_line() {
  over_ = true;
  in_ = {};
  line_end_ = std::string::npos;
  answer(
      json_text(error_answer(fmt::format("a line has at most {} bytes; the connection is closed", longest_command))));
}

void connection::find_line() {
  while (searched_ == taken_ && taken_ < in_.size() && in_[taken_] == '\n') searched_ = ++taken_;
  line_end_ = in_.find('\n', searched_);
  searched_ = has_line() ? line_end_ : in_.size();
}

std::optional<std::string> connection::next_line() {
  if (!has_line() || !out_.empty() || broken_) return std::nullopt;
  std::string line = in_.substr(taken_, line_end_ - taken_);
  taken_ = searched_ = line_end_ + 1;
  find_line();
  return line;
}

void connection::answer(std::string line) {
  out_ = std::move(line) + '\n';
  send();
}

void connection::send() {
  const auto n = uninterrupted([&] { return ::send(number(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  if (n > 0) out_.erase(0, static_cast<std::size_t>(n));
  broken_ = n < 0 && errno != EAGAIN;
}

}  // namespace hydra::apps
