#include "tests/support/scripted_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

namespace hydra::test {

scripted_device::scripted_device(byte_count memory) {
  info_.name = "scripted:0";
  info_.kind = "scripted";
  info_.memory = memory;
}

bool scripted_device::submitted::waits_for(ticket t) const { return std::ranges::find(after, t) != after.end(); }

ticket scripted_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const ticket t{history_.size() + 1};
  history_.emplace(
      t,
      submitted{queue, std::string(op.label.name) + " " + op.label.detail, {after.begin(), after.end()}, op.estimate});
  pending_.emplace(t, std::move(op));
  return t;
}

std::vector<ticket> scripted_device::all(const std::string& part) const {
  std::vector<ticket> found;
  for (const auto& [t, s] : history_) {
    if (s.text.find(part) != std::string::npos) {
      found.push_back(t);
    }
  }
  return found;
}

ticket scripted_device::find(const std::string& part) const {
  INFO("no operation '" << part << "'");
  const auto found = all(part);
  REQUIRE_FALSE(found.empty());
  return found.back();
}

bool scripted_device::is_ready(ticket t) const {
  const auto& s = history_.at(t);
  const auto open = [this](ticket other) { return pending_.contains(other); };
  return std::ranges::none_of(s.after, open) && std::ranges::none_of(pending_, [&](const auto& other) {
    return other.first < t && history_.at(other.first).queue == s.queue;
  });
}

std::vector<ticket> scripted_device::ready() const {
  std::vector<ticket> all;
  for (const auto& [t, op] : pending_) {
    if (is_ready(t)) {
      all.push_back(t);
    }
  }
  return all;
}

fault scripted_device::verdict(ticket t, const fault& error) const {
  for (const auto other : history_.at(t).after) {
    if (failed_.contains(other)) {
      return {fault_code::dependency_failed, "ticket " + std::to_string(other.value) + " failed"};
    }
  }
  return error;
}

void scripted_device::finish(ticket t, const fault& error) {
  INFO(history_.at(t).text);
  REQUIRE(pending_.contains(t));
  REQUIRE(is_ready(t));
  const auto result = verdict(t, error);
  if (result) {
    failed_.insert(t);
  }
  pending_.at(t).work = nullptr;
  pending_.erase(t);
  const auto begin = now_;
  now_ += std::chrono::microseconds{1};
  unreported_[history_.at(t).queue].push_back({t, begin, now_, result});
}

bool scripted_device::has_report(queue_kind queue) const {
  const auto found = unreported_.find(queue);
  return found != unreported_.end() && !found->second.empty();
}

bool scripted_device::report(queue_kind queue) {
  if (!has_report(queue)) {
    return false;
  }
  auto& due = unreported_.at(queue);
  const auto next = due.front();
  due.pop_front();
  sink_(next);
  return true;
}

void scripted_device::complete(ticket t, const fault& error) {
  const auto queue = history_.at(t).queue;
  finish(t, error);
  while (report(queue)) {
  }
}

std::size_t scripted_device::drain() {
  std::size_t n = 0;
  for (const auto queue : {queue_kind::h2d, queue_kind::compute, queue_kind::d2h}) {
    while (report(queue)) {
      ++n;
    }
  }
  for (auto next = ready(); !next.empty(); next = ready()) {
    complete(next.front());
    ++n;
  }
  return n;
}

}  // namespace hydra::test
