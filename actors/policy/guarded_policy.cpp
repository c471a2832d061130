#include "actors/policy/guarded_policy.hpp"

#include "runtime/base/fault.hpp"

namespace hydra {

std::optional<std::size_t> guarded_policy::choose(const device_state& device, std::span<const candidate> candidates,
                                                  const policy_view& view) {
  std::optional<std::size_t> choice;
  call([&] { choice = inner_->choose(device, candidates, view); }, "a decision");
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  return choice;
}

/// If it throws, it counts as not pending: the next decision reports why.
bool guarded_policy::pending() const {
  bool pending = false;
  call([&] { pending = inner_->pending(); }, "asking whether an answer is pending");
  return pending;
}

void guarded_policy::model_left(model_id model) {
  call([&] { inner_->model_left(model); }, "the notification that a model has left");
}

void guarded_policy::unit_avoids(model_id model, device_id device) {
  call([&] { inner_->unit_avoids(model, device); }, "the notification that a unit avoids a device");
}

void guarded_policy::device_left(device_id device) {
  call([&] { inner_->device_left(device); }, "the notification that a device has left");
}

void guarded_policy::call(const std::function<void()>& what, const std::string& which) const {
  if (failure_) {
    return;
  }
  try {
    what();
  } catch (...) {
    const auto text = which + " throws: " + to_fault(std::current_exception()).text;
    failure_ = std::make_exception_ptr(fault_error{fault_code::internal, text});
  }
}

}  // namespace hydra
