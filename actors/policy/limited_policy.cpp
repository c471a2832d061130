#include "actors/policy/limited_policy.hpp"

#include "actors/policy/decision_copy.hpp"
#include "runtime/base/fault.hpp"

#include <atomic>
#include <exception>
#include <semaphore>
#include <thread>
#include <utility>

namespace hydra {

/// Shared by the two threads. One call at a time: each side writes only while the other waits.
struct limited_policy::helper {
  std::unique_ptr<policy> inner;
  std::function<void(policy&)> todo;  ///< empty: the end
  std::exception_ptr thrown;
  std::counting_semaphore<2> called{0};  ///< by a call, and by the end
  std::binary_semaphore returned{0};
  std::atomic<bool> abandoned{false};  ///< no thread waits for it any more

  void serve_once() noexcept {
    try {
      todo(*inner);
    } catch (...) {
      thrown = std::current_exception();
    }
  }

  static void serve(const std::shared_ptr<helper>& self) {
    for (self->called.acquire(); !self->abandoned && self->todo; self->called.acquire()) {
      self->serve_once();
      self->returned.release();
    }
    self->inner.reset();  // always here: its destructor may never return, either
    if (!self->abandoned) {
      self->returned.release();
    }
  }
};

namespace {

struct question {
  decision_copy shown;
  std::optional<std::size_t> answer{};
};

}  // namespace

limited_policy::limited_policy(std::unique_ptr<policy> inner, std::string name, duration limit)
    : name_{std::move(name)}, limit_{limit}, helper_{std::make_shared<helper>()} {
  helper_->inner = std::move(inner);
  std::thread{[self = helper_] { helper::serve(self); }}.detach();
  const auto answer = std::make_shared<std::uint32_t>(depth_);
  if (call([answer](policy& p) { *answer = p.depth(); }, "asking for its depth")) {
    depth_ = *answer;
  }
}

limited_policy::~limited_policy() {
  if (helper_->abandoned) {
    return;
  }
  helper_->todo = nullptr;
  helper_->called.release();
  static_cast<void>(helper_->returned.try_acquire_for(limit_));
}

std::optional<std::size_t> limited_policy::choose(const device_state& device, std::span<const candidate> candidates,
                                                  const policy_view& view) {
  const auto q = std::make_shared<question>(question{.shown = copy_of(device, candidates, view)});
  const bool answered = call(
      [q](policy& p) { q->answer = p.choose(q->shown.device, q->shown.candidates, q->shown.view()); }, "a decision");
  if (!answered) {
    throw fault_error{fault_code::internal, failure_};
  }
  return q->answer;
}

void limited_policy::model_left(model_id model) {
  call([=](policy& p) { p.model_left(model); }, "the notification that a model has left");
}

void limited_policy::unit_avoids(model_id model, device_id device) {
  call([=](policy& p) { p.unit_avoids(model, device); }, "the notification that a unit avoids a device");
}

void limited_policy::device_left(device_id device) {
  call([=](policy& p) { p.device_left(device); }, "the notification that a device has left");
}

bool limited_policy::call(std::function<void(policy&)> what, const std::string& which) {
  if (!failure_.empty()) {
    return false;
  }
  helper_->todo = std::move(what);
  helper_->called.release();
  if (!helper_->returned.try_acquire_for(limit_)) {
    helper_->abandoned = true;
    helper_->called.release();
    failure_ = which + " takes longer than " + to_string(limit_);
  } else if (helper_->thrown) {
    failure_ = which + " throws: " + to_fault(helper_->thrown).text;
  }
  return failure_.empty();
}

}  // namespace hydra
