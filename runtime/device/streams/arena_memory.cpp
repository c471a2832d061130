#include "runtime/device/streams/arena_memory.hpp"

#include "runtime/base/fault.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <exception>
#include <utility>

namespace hydra {

namespace {

/// The operation that the calling thread launches, and its memory.
struct launch_here {
  const arena_memory* memory = nullptr;
  launch_point operation{};
  std::function<void()> drain{};
};

thread_local launch_here here;

}  // namespace

/// Exists while a thread launches an operation.
class arena_memory::launching {
 public:
  launching(std::shared_ptr<arena_memory> memory, const launch_point& operation, std::function<void()> drain)
      : memory_(memory), pool_(std::move(memory)) {
    here = {memory_.get(), operation, std::move(drain)};
  }
  ~launching() {
    here = {};
    memory_->launched();
  }
  launching(const launching&) = delete;
  launching& operator=(const launching&) = delete;

 private:
  std::shared_ptr<arena_memory> memory_;
  allocate_from pool_;
};

arena_memory::arena_memory(std::unique_ptr<page_source> pages, byte_count beside)
    : pages_(std::move(pages)), beside_(beside), arena_(pages_->page(), pages_->pages(), pages_->spread()) {}

std::shared_ptr<void> arena_memory::launch(const launch_point& operation, std::function<void()> drain) {
  {
    const std::lock_guard lock{mutex_};
    ++launching_;
  }
  return std::make_shared<launching>(shared_from_this(), operation, std::move(drain));
}

void arena_memory::launched() noexcept {
  {
    const std::lock_guard lock{mutex_};
    --launching_;
    ++launched_;
    ++changes_;
  }
  changed_.notify_all();
}

void arena_memory::retire(const launch_point& operation) noexcept {
  {
    const std::lock_guard lock{mutex_};
    arena_.retire(operation);
    --launched_;
    ++changes_;
  }
  changed_.notify_all();
}

void arena_memory::give_up() noexcept {
  {
    const std::lock_guard lock{mutex_};
    given_up_ = true;
  }
  changed_.notify_all();
}

memory_usage arena_memory::usage() const noexcept {
  const std::lock_guard lock{mutex_};
  return {beside_ + arena_.used(), beside_ + arena_.peak(), beside_ + arena_.size()};
}

std::uint64_t arena_memory::moves() const noexcept {
  const std::lock_guard lock{mutex_};
  return arena_.moves();
}

void* arena_memory::take(byte_count n, queue_kind queue, std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !moving_; });
  if (failed_) {
    throw fault_error(failed_);
  }
  const auto got = arena_.take(n, queue);
  if (!got) {
    return nullptr;
  }
  if (!got->mapped.empty()) {
    move_pages(*got, lock);
  }
  return pages_->base() + got->offset;
}

void arena_memory::move_pages(const page_arena::taking& t, std::unique_lock<std::mutex>& lock) {
  moving_ = true;
  lock.unlock();
  fault failed;
  try {
    for (const auto place : t.unmapped) {
      pages_->unmap(place);
    }
    pages_->map(t.mapped);
  } catch (...) {
    failed = to_fault(std::current_exception());
  }
  lock.lock();
  moving_ = false;
  changed_.notify_all();
  if (failed) {
    failed_ = std::move(failed);
    throw fault_error(failed_);
  }
}

/// Launched work retires without this thread; a thread that launches will finish launching, unless it waits here as
/// well.
bool arena_memory::others_will_free() const noexcept { return launched_ > 0 || launching_ > waiting_ + 1; }

void arena_memory::wait_for_others(std::unique_lock<std::mutex>& lock) {
  ++waiting_;
  const auto before = changes_;
  changed_.wait(lock, [&] { return changes_ != before || given_up_; });
  --waiting_;
}

void* arena_memory::allocate(std::size_t n) {
  const auto operation = here.operation;
  bool drained = false;
  std::unique_lock lock{mutex_};
  for (;;) {
    if (void* const p = take(byte_count{n}, operation.queue, lock)) {
      return p;
    }
    if (!given_up_ && others_will_free()) {
      wait_for_others(lock);
    } else if (!given_up_ && !std::exchange(drained, true)) {
      lock.unlock();
      here.drain();
      lock.lock();
      arena_.retire(operation);
    } else {
      refuse(byte_count{n});
    }
  }
}

void arena_memory::refuse(byte_count n) const {
  TORCH_CHECK_WITH(OutOfMemoryError, false,
                   fmt::format("{} are needed; of the device's {}, {} are in use", to_string(n),
                               to_string(beside_ + arena_.size()), to_string(beside_ + arena_.used())));
}

void* arena_memory::try_allocate(std::size_t n) noexcept {
  std::unique_lock lock{mutex_};
  try {
    return take(byte_count{n}, here.operation.queue, lock);
  } catch (const fault_error&) {
    return nullptr;
  }
}

std::optional<launch_point> arena_memory::freed_at() const noexcept {
  return here.memory == this ? std::optional(here.operation) : std::nullopt;
}

void arena_memory::release(void* p) noexcept {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - pages_->base());
  {
    const std::lock_guard lock{mutex_};
    arena_.give(offset, freed_at());
    ++changes_;
  }
  changed_.notify_all();
}

}  // namespace hydra
