#include "tests/support/fake_device.hpp"

#include <algorithm>
#include <utility>

namespace hydra::test {

fake_device::fake_device(device_info info, drive mode) : info_(std::move(info)), mode_(mode), account_(info_.memory) {
  if (mode_ == drive::worker) worker_ = std::thread{[this] { work_until_closed(); }};
}

fake_device::~fake_device() {
  stop({});
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  worker_.joinable() ? worker_.join() : static_cast<void>(drain());
}

void fake_device::on_completion(completion_sink sink) {
  const std::lock_guard lock{mutex_};
  if (sink_) throw fault_error{fault_code::internal, "a second receiver of completions"};
  sink_ = std::move(sink);
}

ticket fake_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const std::lock_guard lock{mutex_};
  if (!sink_) throw fault_error{fault_code::internal, "no receiver of completions"};
  for (const ticket t : after)
    if (t.value > issued_) throw fault_error{fault_code::internal, "a ticket of another device"};
  const ticket id{++issued_};
  entries_.emplace(id, entry{queue, std::move(op), {after.begin(), after.end()}});
  changed_.notify_all();
  return id;
}

bool fake_device::stop(duration limit) noexcept {
  std::unique_lock lock{mutex_};
  stopped_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, mode_ == drive::worker ? limit : duration{}, [this] { return entries_.empty(); });
}

bool fake_device::step(std::optional<queue_kind> queue) {
  std::unique_lock lock{mutex_};
  const auto next = first_ready(queue);
  if (!next) return false;
  auto& e = entries_.at(*next);
  const fault verdict = verdict_on(e);
  operation what = std::move(e.what);
  lock.unlock();
  const duration length = std::max<duration>(what.estimate, std::chrono::microseconds{1});
  if (verdict) what = {};
  complete(*next, verdict ? verdict : execute(std::move(what)), verdict ? duration{} : length);
  return true;
}

std::size_t fake_device::drain() {
  std::size_t n = 0;
  while (step()) ++n;
  return n;
}

std::size_t fake_device::pending() const {
  const std::lock_guard lock{mutex_};
  return entries_.size();
}

void fake_device::work_until_closed() {
  while (true) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return closing_ || !entries_.empty(); });
      if (entries_.empty()) return;
    }
    step();
  }
}

bool fake_device::is_ready(ticket t, const entry& e) const {
  const auto open = [this](ticket other) { return entries_.contains(other); };
  const auto earlier = [&](const auto& other) { return other.first < t && other.second.queue == e.queue; };
  return std::ranges::none_of(entries_, earlier) && (stopped_ || std::ranges::none_of(e.after, open));
}

std::optional<ticket> fake_device::first_ready(std::optional<queue_kind> queue) const {
  for (const auto& [id, e] : entries_)
    if ((!queue || e.queue == *queue) && is_ready(id, e)) return id;
  return std::nullopt;
}

fault fake_device::verdict_on(const entry& e) const {
  if (stopped_) return {fault_code::cancelled, "the device was stopped"};
  for (const ticket t : e.after)
    if (failed_.contains(t)) return {fault_code::dependency_failed, "ticket " + std::to_string(t.value) + " failed"};
  return {};
}

/// The closure is destroyed with `op`, while it is still charged to the device.
fault fake_device::execute(operation op) {
  const charge_to guard{account_};
  fault error;
  try {
    if (op.work) op.work();
  } catch (...) {
    error = to_fault(std::current_exception());
  }
  op.work = nullptr;
  return error;
}

void fake_device::complete(ticket t, fault error, duration length) {
  completion done{t, now_, now_ += length, std::move(error)};
  sink_(done);
  {
    const std::lock_guard lock{mutex_};
    if (done.error) failed_.insert(t);
    entries_.erase(t);
  }
  changed_.notify_all();
}

device_info fake_info(byte_count memory, std::string name) {
  device_info info;
  info.name = std::move(name);
  info.kind = "fake";
  info.memory = memory;
  return info;
}

}  // namespace hydra::test
