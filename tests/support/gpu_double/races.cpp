// Which work may run at the same time, by vector clocks over streams and events. Work that has really run counts as
// done before, so no alarm is false, and a race needs a delay to be seen.

#include "tests/support/gpu_double/streams.hpp"

#include <cstdio>

namespace gpu_double {

namespace {

/// Of bytes, by a task that is not done.
struct pending_use {
  const stream& on;
  const task& by;
  touched what;

  std::string text() const { return by.what.name + " on stream " + std::to_string(on.id); }
};

std::vector<pending_use> uses_of(const touched& r) {
  std::vector<pending_use> found;
  for (const auto* s : streams) {
    for (const auto& t : s->line) {
      for (const auto& what : t->what.ranges) {
        if (what.begin < r.end && r.begin < what.end) found.push_back({*s, *t, what});
      }
    }
  }
  return found;
}

bool happens_before(const pending_use& earlier, const task& later) {
  const auto known = later.clock.find(earlier.on.id);
  return known != later.clock.end() && known->second >= earlier.by.clock.at(earlier.on.id);
}

}  // namespace

std::string text_of(const touched& r) {
  char text[80];
  std::snprintf(text, sizeof text, "%s [%zx, %zx)", r.written ? "writes" : "reads", r.begin, r.end);
  return text;
}

void look_for_races(const task& t, const stream& on) {
  for (const auto& r : t.what.ranges) {
    for (const auto& other : uses_of(r)) {
      if ((!r.written && !other.what.written) || happens_before(other, t)) continue;
      complain("race", pending_use{on, t, r}.text() + " " + text_of(r) + ", but " + other.text() +
                           ", which may run at the same time, " + text_of(other.what));
    }
  }
}

std::string user_of(const touched& r) {
  const auto all = uses_of(r);
  return all.empty() ? "" : all.front().text();
}

}  // namespace gpu_double
