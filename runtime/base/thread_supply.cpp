#include "runtime/base/thread_supply.hpp"

#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <latch>
#include <vector>

namespace hydra {

namespace {

std::size_t threads_of_process() {
  std::error_code unknown;
  const std::filesystem::directory_iterator all{"/proc/self/task", unknown};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

std::size_t possible_threads(std::size_t wanted, const thread_maker& make) {
  std::latch counted{1};
  std::vector<std::jthread> made;  // ended by the latch, joined at the end of this function
  try {
    made.reserve(wanted);
    while (made.size() < wanted) made.push_back(make([&counted] { counted.wait(); }));
  } catch (const std::exception&) {
    // the system has no more, or no memory for another stack
  }
  counted.count_down();
  return made.size();
}

void require_threads(std::size_t needed, const std::string& who) {
  const auto possible =
      possible_threads(needed, [](std::function<void()> body) { return std::jthread{std::move(body)}; });
  if (possible == needed) return;
  refuse(fmt::format("{} needs {} beside the {} of this process, but {} can be made: {}", who,
                     counted(needed, "thread"), threads_of_process(), possible, more_threads()));
}

std::string more_threads() {
  return "raise the limit (ulimit -u, pids.max of the control group, TasksMax of systemd), or use fewer devices, or "
         "fewer threads for them and for the optimizer";
}

/// Written with one call and without stdio, whose lock another thread may hold.
void end_for_lack_of_threads(const std::string& who, const std::exception& why) noexcept {
  const auto text = fmt::format(
      "{}: the system refuses a thread ({}), and what has begun cannot be undone, so the process "
      "ends now: {}; --resume continues what was saved\n",
      who, why.what(), more_threads());
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(1);
}

}  // namespace hydra
