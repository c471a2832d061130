// Which work may run at the same time, by vector clocks over streams and events. Work that has really run counts as done before,
// so no alarm is false, and a race needs a delay to be seen.

#include "tests/support/gpu_double/streams.hpp"

#include <cstdio>

namespace gpu_double {

namespace {

bool overlap(const touched& a, const touched& b) { return a.begin < b.end && b.begin < a.end; }

bool happens_before(const task& earlier, const stream& of, const task& later) {
  const auto known = later.clock.find(of.id);
  return known != later.clock.end() && known->second >= earlier.number;
}

std::string on_stream(const task& t, const stream& s) { return t.what.name + " on stream " + std::to_string(s.id); }

/// With a task of another stream that may run at the same time.
void compare(const task& t, const stream& on, const task& other, const stream& there) {
  for (const auto& a : t.what.ranges) {
    for (const auto& b : other.what.ranges) {
      if ((a.written || b.written) && overlap(a, b)) {
        complain("race", on_stream(t, on) + " " + text_of(a) + ", but " + on_stream(other, there) +
                             ", which may run at the same time, " + text_of(b));
      }
    }
  }
}

}  // namespace

std::string text_of(const touched& r) {
  char text[80];
  std::snprintf(text, sizeof text, "%s [%zx, %zx)", r.written ? "writes" : "reads", r.begin, r.end);
  return text;
}

void look_for_races(const task& t, const stream& on) {
  if (t.what.ranges.empty()) return;
  for (const auto* there : all_streams()) {
    if (there == &on) continue;
    for (const auto& other : there->line) {
      if (!happens_before(*other, *there, t)) compare(t, on, *other, *there);
    }
  }
}

std::string user_of(const touched& r) {
  for (const auto* s : all_streams()) {
    for (const auto& t : s->line) {
      for (const auto& used : t->what.ranges) {
        if (overlap(used, r)) return on_stream(*t, *s);
      }
    }
  }
  return {};
}

}  // namespace gpu_double
