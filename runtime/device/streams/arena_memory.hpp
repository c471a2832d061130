#pragma once
// Pages of device memory, allocated once, from which all closures of a device allocate.

#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/tensor_pool.hpp"
#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/streams/page_arena.hpp"
#include "runtime/device/streams/page_source.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace hydra {

/// A thread that launches ahead of the device may need bytes that are still in use by work which was launched before
/// and will free them: it waits until that work is done, or until another thread has finished launching its operation.
/// If there is no such work left, it waits for its own work, whose freed bytes are then free for all queues. Only after
/// that it is out of memory. So the device's budget holds at every moment without a wait between two operations.
class arena_memory final : public launch_memory, public tensor_pool, public std::enable_shared_from_this<arena_memory> {
 public:
  /// `beside`: bytes of the budget that are allocated elsewhere (context).
  explicit arena_memory(std::unique_ptr<page_source> pages, byte_count beside = {});

  std::shared_ptr<void> launch(const launch_point& operation, std::function<void()> drain) override;
  void retire(const launch_point& operation) noexcept override;
  void give_up() noexcept override;
  memory_usage usage() const noexcept override;
  /// Pages moved so far.
  std::uint64_t moves() const noexcept;

  c10::DeviceType device_type() const noexcept override { return pages_->device_type(); }
  /// Called only by a thread that launches.
  void* allocate(std::size_t n) override;
  /// Called by a thread that launches: the bytes are free in the order of its queue. By any other thread: only when
  /// nothing uses them.
  void release(void* p) noexcept override;
  void* try_allocate(std::size_t n) noexcept override;

 private:
  class launching;
  void launched() noexcept;
  std::optional<launch_point> freed_at() const noexcept;
  // -- with mutex_ held --------------------------------------------------------------------------------------------
  /// Null: so many bytes are not free at present, and the mutex was held all the time since that was found. Once a page
  /// could not be mapped or unmapped, this fault is thrown for good: arena_ takes its place for mapped.
  void* take(byte_count n, queue_kind queue, std::unique_lock<std::mutex>& lock);
  /// Without the mutex: moving pages takes a driver long, and bytes can be released meanwhile, but none taken: they
  /// might be where a page is not mapped yet.
  void move_pages(const page_arena::taking& t, std::unique_lock<std::mutex>& lock);
  bool others_will_free() const noexcept;
  void wait_for_others(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void refuse(byte_count n) const;

  const std::unique_ptr<page_source> pages_;
  const byte_count beside_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  page_arena arena_;
  bool moving_ = false;           ///< a thread moves pages
  fault failed_;                  ///< of a page
  std::size_t launched_ = 0;      ///< operations launched and not retired
  std::size_t launching_ = 0;     ///< threads that are launching
  std::size_t waiting_ = 0;       ///< of them, threads that wait for bytes
  std::uint64_t changes_ = 0;     ///< counts changes of what is free
  bool given_up_ = false;
};

}  // namespace hydra
