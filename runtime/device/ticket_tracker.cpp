#include "runtime/device/ticket_tracker.hpp"

#include <iterator>

namespace hydra {

namespace {

using runs = std::map<std::uint64_t, std::uint64_t>;

/// The range that contains `n`, or end.
runs::const_iterator run_of(const runs& all, std::uint64_t n) {
  const auto after = all.upper_bound(n);
  if (after == all.begin()) return all.end();
  const auto run = std::prev(after);
  return run->second >= n ? run : all.end();
}

void add(runs& all, std::uint64_t n) {
  const auto left = run_of(all, n - 1);
  const auto right = all.find(n + 1);
  const std::uint64_t first = left == all.end() ? n : left->first;
  const std::uint64_t last = right == all.end() ? n : right->second;
  if (right != all.end()) all.erase(right);
  all[first] = last;
}

}  // namespace

ticket ticket_tracker::issue() {
  outstanding_.insert(last_ + 1);
  return ticket{++last_};
}

void ticket_tracker::complete(ticket t, bool failed) {
  if (failed) add(failed_, t.value);
  outstanding_.erase(t.value);
}

bool ticket_tracker::failed(ticket t) const { return run_of(failed_, t.value) != failed_.end(); }

}  // namespace hydra
