#pragma once
// Pages of device memory, taken once, from which all closures of a device allocate.

#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/streams/page_arena.hpp"
#include "runtime/device/streams/page_source.hpp"
#include "runtime/device/cpu/tensor_pool.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace hydra {

/// A thread that launches ahead of the device meets bytes that are still in use, by work which was launched before and will
/// free them: it waits until that is done, or until another thread has launched what it is at. If nothing of that kind is
/// left, it waits for its own work, whose freed bytes are then free for all. Only after that it is out of memory. So the
/// device's budget holds at every moment although nobody waits between two operations.
class arena_memory final : public launch_memory, public tensor_pool, public std::enable_shared_from_this<arena_memory> {
 public:
  /// `beside`: bytes of the budget that lie elsewhere (context).
  explicit arena_memory(std::unique_ptr<page_source> pages, byte_count beside = {});

  std::shared_ptr<void> launch(const launch_point& operation, std::function<void()> drain) override;
  void retire(const launch_point& operation) noexcept override;
  void give_up() noexcept override;
  memory_usage usage() const noexcept override;
  /// Pages moved so far.
  std::uint64_t moves() const noexcept;

  /// Only by a thread that launches.
  void* allocate(std::size_t n) override;
  /// By a thread that launches: in the order of its queue. By any other one: when nothing uses the bytes.
  void release(void* p) noexcept override;
  void* try_allocate(std::size_t n) noexcept override;

 private:
  class launching;
  void launched() noexcept;
  std::optional<launch_point> freed_at() const noexcept;
  // -- with mutex_ held --------------------------------------------------------------------------------------------
  /// Null: there are no such bytes now.
  void* take(byte_count n, queue_kind queue);
  bool others_will_free() const noexcept;
  void wait_for_others(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void refuse(byte_count n) const;

  const std::unique_ptr<page_source> pages_;
  const byte_count beside_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  page_arena arena_;
  std::size_t launched_ = 0;      ///< and not retired
  std::size_t launching_ = 0;     ///< threads
  std::size_t waiting_ = 0;       ///< of them, for bytes
  std::uint64_t changes_ = 0;     ///< of what is free
  bool given_up_ = false;
};

}  // namespace hydra
