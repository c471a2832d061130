#include "actors/policy/pace.hpp"

#include <algorithm>

namespace hydra {

namespace {

constexpr double window = 0.2;   // of the remaining work
constexpr double prior = 0.02;   // of it, at pace 1
constexpr double least = 0.1;
constexpr double most = 10;

}  // namespace

void pace::look(const policy_view& view) {
  const auto before = work_;
  const auto spent = static_cast<double>((view.now - at_).count()) * speed_;
  work_ = longest_ = speed_ = 0;
  for (const auto& m : view.models) {
    const auto left = work_left(m, view);
    work_ += left;
    longest_ = std::max(longest_, left);
  }
  for (const auto& d : view.devices) {
    speed_ += d.speed;
  }
  if (seen_ && work_ <= before) {  // more: a model has joined
    done_ += before - work_;
    spent_ += spent;
  }
  seen_ = true;
  at_ = view.now;
  if (work_ <= 0) {
    return;
  }
  const auto forget = std::min(1.0, window * work_ / std::max(spent_, 1.0));
  done_ *= forget;
  spent_ *= forget;
  value_ = std::clamp((done_ + prior * work_) / (spent_ + prior * work_), least, most);
}

double pace::end(const fluid& left) const {
  constexpr double rounding = 1e-9;
  const auto work = work_ / speed_;
  const bool work_bound = left.end() <= work * (1 + rounding);
  return std::max(work / value_, work_bound ? longest_ / left.fastest() : left.end());
}

}  // namespace hydra
