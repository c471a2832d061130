#pragma once
// What devices that have a thread for each of their queues do alike.

#include "runtime/device/device.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/ticket_tracker.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>

namespace hydra {

inline constexpr std::array all_queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};
inline constexpr std::array queue_names{"compute", "h2d", "d2h"};

constexpr std::size_t index_of(queue_kind queue) { return static_cast<std::size_t>(queue); }

/// Throws fault_error{bad_input} if the system has no more. Start threads behind a complete object (a delegating
/// constructor), so that its destructor ends those that have begun.
std::thread start_thread(const std::string& device, std::function<void()> life);

/// Of threads that may not all have begun.
void join_begun(std::span<std::thread> threads);

/// "cpu:0 compute", as far as the kernel takes names.
void name_this_thread(const std::string& device, const char* what);

/// Intra-op threads of what the calling thread computes, for good.
void use_threads(int n);

/// Throws fault_error{internal}: there is nobody to report to, or a ticket that the book has not issued.
void check_submission(const std::string& device, bool has_receiver, const ticket_tracker& tickets, std::span<const ticket> after);

/// "execute_shard of gpt-a 3 step 7".
std::string name_of(const operation_label& what);
/// Of an operation that is given up because its device was stopped.
fault not_run_stopped(const operation_label& what, const std::string& device);
/// Of one that waits for a ticket which failed.
fault not_run_behind(const operation_label& what, const std::string& device, ticket failed);

}  // namespace hydra
