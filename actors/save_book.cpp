#include "actors/save_book.hpp"

#include <utility>

namespace hydra {

bool save_book::between_steps(bool by_steps) {
  if (!saves_ || leaving() || saving_ || (!due_ && !by_steps)) {
    return false;
  }
  due_ = false;
  saving_ = true;
  return true;
}

void save_book::saved(const fault& why) {
  saving_ = false;
  failed_ = why;
  (why ? failed_at_ : saved_) = saving_at_;
}

void save_book::leave(const fault& why) {
  if (!leaving()) {
    reason_ = why;
  }
}

void save_book::give_up(const fault& why) {
  leave(why);
  given_up_ = true;
  if (saves_) {
    failed_ = why;
  }
}

save_book::action save_book::next(const save_point& here, bool drained) {
  if (!leaving()) {
    return action::none;
  }
  if (given_up_ || !saves_) {
    return action::end;
  }
  if (saving_ || !drained) {
    return action::none;
  }
  if (saved_ == here || failed_at_ == here) {
    return action::end;
  }
  saving_ = true;
  return action::capture;
}

}  // namespace hydra
