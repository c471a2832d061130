#include "runtime/device/loop_threads.hpp"

#include "runtime/base/thread_supply.hpp"

#include <oneapi/tbb/info.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <list>
#include <stdexcept>

namespace hydra {

namespace {

int threads_needed(int least) { return std::max({least, oneapi::tbb::info::default_concurrency() - 1, 1}); }

/// By work that waits until there is a thread for each piece of it. In arenas of one thread each, so that TBB makes all
/// of them on this thread, where an error is noticed, instead of letting them make each other. An arena that lacks one
/// is not destroyed: that would wait for ever.
void begin_loop_threads(int n) {
  std::promise<void> all;
  const std::shared_future<void> begun = all.get_future().share();
  std::list<oneapi::tbb::task_arena> arenas;
  try {
    for (int i = 0; i < n; ++i) arenas.emplace_back(1, 0U).enqueue([begun] { begun.wait(); });
  } catch (const std::runtime_error& e) {  // of TBB
    end_for_lack_of_threads("TBB", e);
  }
  all.set_value();
}

}  // namespace

loop_threads::loop_threads(int least) : held_{threads_needed(least), 0} {
  const int n = held_.max_concurrency();
  require_threads(static_cast<std::size_t>(n), "TBB, for parallel loops on the host,");
  held_.initialize();
  begin_loop_threads(n);
}

}  // namespace hydra
