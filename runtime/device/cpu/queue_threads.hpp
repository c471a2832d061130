#pragma once
// What is common to devices that have one thread for each queue.

#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"
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

/// Throws fault_error{bad_input} if the system cannot start another thread. Call it when the object is complete (in a
/// delegating constructor), so that its destructor ends the threads that were started.
std::thread start_thread(const std::string& device, std::function<void()> life);

/// Some of the threads may not have been started.
void join_begun(std::span<std::thread> threads);

/// "cpu:0 compute", truncated to the kernel's limit.
void name_this_thread(const std::string& device, const char* what);

/// Sets the number of intra-op threads of the calling thread, permanently.
void use_threads(int n);

/// Throws fault_error{internal} if there is no receiver of completions, or for a ticket that the tracker has not
/// issued.
void check_submission(const std::string& device, bool has_receiver, const ticket_tracker& tickets,
                      std::span<const ticket> after);

/// "execute_shard of gpt-a 3 step 7".
std::string name_of(const operation_label& what);
/// The fault of an operation that is cancelled because its device was stopped.
fault not_run_stopped(const operation_label& what, const std::string& device);
/// The fault of an operation that waits for a ticket which failed.
fault not_run_behind(const operation_label& what, const std::string& device, ticket failed);

}  // namespace hydra
