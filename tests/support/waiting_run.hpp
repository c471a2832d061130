#pragma once
// A run whose models are given to it, and taken away, while it is under way.

#include "actors/protocol/step_partners.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "tests/support/spilled_run.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

/// A run whose models are paused until they are resumed, on a thread of its own.
class waiting_run {
 public:
  waiting_run(std::filesystem::path folder, const std::vector<exact_case>& models, const cpu_device& device,
              std::shared_ptr<step_partners> partners = nullptr, byte_count host_memory = {})
      : folder_(std::move(folder)),
        session_({.host_memory = host_memory,
                  .output = folder_,
                  .log = verbosity::quiet,
                  .checkpoint = {.every_minutes = 0},
                  .begin_paused = true,
                  .partners = std::move(partners)}) {
    session_.add_devices(1, device);
    for (std::size_t i = 0; i < models.size(); ++i) session_.add_model(describe(models[i], i));
    session_.on<step_completed>([this](const step_completed& e, control&) {
      ++steps_;
      steer_if_due(e);
    });
    run_ = std::async(std::launch::async, [this] { return session_.run(); });
    while (!under_way()) {
      if (has_ended()) run_.get();  // throws why it has not begun
    }
  }

  ~waiting_run() { session_.interrupt(); }  // a test that fails ends

  session& operator*() { return session_; }
  std::size_t steps() const { return steps_; }
  std::filesystem::path checkpoints(const std::string& model) const {
    return checkpoints_of(folder_ / "checkpoints", model);
  }

  model_phase phase_of(std::size_t model) { return session_.status().models.at(model).phase; }
  void steer(const std::string& model, model_command what, const step_share& share = {}) {
    std::promise<fault> done;
    session_.steer(
        model, what, [&](const fault& why) { done.set_value(why); }, share);
    if (const fault why = done.get_future().get()) throw fault_error(why);
  }
  /// Steers the model when that step is done: it waits meanwhile, and cannot have ended. To be called before it gets
  /// there.
  std::future<void> steers_after(std::uint32_t step, const std::string& model, model_command what) {
    const std::lock_guard lock(mutex_);
    return due_.emplace_back(due_command{step, model, what, {}, false}).done.get_future();
  }
  void train_to_the_end(std::size_t model) {
    while (phase_of(model) < model_phase::finished && !has_ended()) {
    }
  }

  report end() {
    session_.interrupt();
    return run_.get();
  }

 private:
  struct due_command {
    std::uint32_t step;
    std::string model;
    model_command what;
    std::promise<void> done;
    bool given = false;
  };

  void steer_if_due(const step_completed& e) {
    const std::lock_guard lock(mutex_);
    for (auto& d : due_) {
      if (d.given || d.model != e.name || d.step != e.done) continue;  // a model may do a step again
      d.given = true;
      session_.steer(d.model, d.what, [&d](const fault& why) {
        why ? d.done.set_exception(std::make_exception_ptr(fault_error(why))) : d.done.set_value();
      });
    }
  }

  /// Waits for it for a moment, so that who asks again leaves the core to the run.
  bool has_ended() { return run_.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready; }
  bool under_way() try {
    session_.status();
    return true;
  } catch (const fault_error&) {
    return false;
  }

  std::filesystem::path folder_;
  std::atomic<std::size_t> steps_ = 0;
  std::mutex mutex_;
  std::list<due_command> due_;
  session session_;
  std::future<report> run_;
};

}  // namespace hydra::test
