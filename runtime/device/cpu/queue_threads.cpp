#include "runtime/device/cpu/queue_threads.hpp"

#include "runtime/base/thread_supply.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <pthread.h>

#include <system_error>
#include <utility>

namespace hydra {

std::string name_of(const operation_label& what) {
  return fmt::format("{}{}{}", *what.name ? what.name : "operation", what.detail.empty() ? "" : " of ", what.detail);
}

std::thread start_thread(const std::string& device, std::function<void()> life) {
  try {
    return std::thread(std::move(life));
  } catch (const std::system_error& e) {
    throw fault_error(fault_code::bad_input, fmt::format("{}: no thread could be started ({}): {}", device,
                                                         e.code().message(), more_threads()));
  }
}

void join_begun(std::span<std::thread> threads) {
  for (auto& thread : threads)
    if (thread.joinable()) thread.join();
}

void name_this_thread(const std::string& device, const char* what) {
  const auto name = fmt::format("{} {}", device, what);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());  // 15 is the kernel's limit
}

/// LibTorch's number of threads is a per-thread value, but the first parallel operation of a thread overwrites it with
/// the value that any thread of the process set last. Reading the number first makes LibTorch do that now.
void use_threads(int n) {
  at::get_num_threads();
  at::set_num_threads(n);
}

void check_submission(const std::string& device, bool has_receiver, const ticket_tracker& tickets,
                      std::span<const ticket> after) {
  if (!has_receiver) {
    throw fault_error(fault_code::internal, device + " has no receiver of completions yet");
  }
  for (const ticket t : after) {
    if (!tickets.knows(t)) {
      throw fault_error(fault_code::internal, fmt::format("ticket {} was not issued by {}", t.value, device));
    }
  }
}

fault not_run_stopped(const operation_label& what, const std::string& device) {
  return {fault_code::cancelled, fmt::format("{} did not run: {} was stopped", name_of(what), device)};
}

fault not_run_behind(const operation_label& what, const std::string& device, ticket failed) {
  return {fault_code::dependency_failed, fmt::format("{} did not run on {}: it waits for ticket {}, which failed",
                                                     name_of(what), device, failed.value)};
}

}  // namespace hydra
