#include "actors/checkpoint/save_tracker.hpp"

#include <utility>

namespace hydra {

duration first_due(duration every, std::uint32_t place, std::size_t models) {
  const auto n = static_cast<std::int64_t>(models);
  const auto nth = std::int64_t{place} + 1;
  return every / n * nth + every % n * nth / n;  // every * nth / n, which may overflow
}

bool save_tracker::between_steps(bool by_steps) {
  due_ = due_ || by_steps;
  if (!saves_ || leaving() || saving_ || !due_) {
    return false;
  }
  due_ = false;
  saving_ = true;
  return true;
}

bool save_tracker::best_now() noexcept {
  if (!best_wanted_ || saving_) {
    return false;
  }
  best_wanted_ = best_captured_ = false;
  saving_ = saving_best_ = true;
  return true;
}

void save_tracker::captured(const save_point& here) {
  if (saving_best_) {
    best_captured_ = true;
  } else {
    saving_at_ = here;
  }
}

/// The checkpointer reports a best state that could not be saved; the next better one is saved again.
void save_tracker::saved(const fault& why) {
  saving_ = false;
  if (std::exchange(saving_best_, false)) {
    return;
  }
  failed_ = why;
  (why ? failed_at_ : saved_) = saving_at_;
}

void save_tracker::leave(const fault& why) {
  if (!leaving()) {
    reason_ = why;
  }
}

void save_tracker::give_up(const fault& why) {
  leave(why);
  given_up_ = true;
  best_wanted_ = false;
  if (saves_) {
    failed_ = why;
  }
}

save_tracker::action save_tracker::next(const save_point& here, bool drained) {
  if (!leaving()) {
    return action::none;
  }
  if (given_up_ || !saves_) {
    return action::end;
  }
  if (saving_ || best_wanted_ || !drained) {
    return action::none;
  }
  if (saved_ == here || failed_at_ == here) {
    return action::end;
  }
  saving_ = true;
  return action::capture;
}

}  // namespace hydra
