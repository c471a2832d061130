#include "runtime/device/executor.hpp"

#include <ATen/Parallel.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <utility>

namespace hydra {

namespace {

class tbb_executor final : public executor {
 public:
  explicit tbb_executor(int threads) : threads_(threads), arena_(threads, /*reserved_for_masters=*/0) {}

  ~tbb_executor() noexcept override {  // task_group's destructor may throw; ours must not
    arena_.execute([this] { group_.wait(); });
  }

  void on_completion(completion_sink sink) override { sink_ = std::move(sink); }

  ticket submit(std::function<void()> work, duration) override {
    const ticket t{++last_};
    // enqueue starts jobs in order even while no thread waits; the group is needed only for the destructor's wait.
    arena_.enqueue(
        group_.defer([this, t, job = std::make_shared<std::function<void()>>(std::move(work))] { run(t, *job); }));
    return t;
  }

  int workers() const noexcept override { return threads_; }

 private:
  void run(ticket t, std::function<void()>& job) const {
    // Sums must not depend on the number of threads. Read the number first: a first parallel operation would overwrite
    // it.
    const thread_local int one = (at::get_num_threads(), at::set_num_threads(1), 1);
    static_cast<void>(one);
    completion c{.operation = t, .begin = steady_clock::now(), .end = {}, .error = {}};
    try {
      job();
    } catch (...) {
      c.error = to_fault(std::current_exception());
    }
    job = nullptr;
    c.end = steady_clock::now();
    sink_(c);
  }

  int threads_;
  completion_sink sink_;
  std::atomic<std::uint64_t> last_{0};
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::task_group group_;
};

}  // namespace

std::unique_ptr<executor> make_executor(int threads) { return std::make_unique<tbb_executor>(threads); }

}  // namespace hydra
