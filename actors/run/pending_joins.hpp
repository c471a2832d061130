#pragma once
// Models that are to join a run, prepared one after the other. One for which there is not enough memory waits for the memory
// of models that have ended.

#include "actors/protocol/joining.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace hydra {

class pending_joins {
 public:
  /// True if it is the only one: it is to be prepared now.
  bool add(add_model asked) {
    asked_.push_back(std::move(asked));
    return asked_.size() == 1;
  }
  bool empty() const noexcept { return asked_.empty(); }
  const add_model& first() const { return asked_.front(); }

  /// The first one is being prepared with what is left after so many models have given their memory back.
  void prepares(std::size_t released) { released_ = released; }
  /// Not enough memory: true if there is more by now.
  bool has_more(std::size_t released) const noexcept { return released > released_; }
  /// It waits for memory, if there is some to wait for. True if it does.
  bool wait(bool memory_comes) { return waits_ = memory_comes; }
  /// Memory was given back: true, once, if the first one waits for it.
  bool wake() { return std::exchange(waits_, false); }

  add_model take() {
    auto asked = std::move(asked_.front());
    asked_.pop_front();
    return asked;
  }
  std::deque<add_model> take_all() { return std::exchange(asked_, {}); }

 private:
  std::deque<add_model> asked_;
  std::size_t released_ = 0;
  bool waits_ = false;
};

}  // namespace hydra
