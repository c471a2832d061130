#pragma once
// Steers a run of `hydra train`.

#include "apps/steering/growing_steering.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace hydra::apps {

class session_steering final : public growing_steering {
 public:
  /// `session` outlives it, too.
  session_steering(session& s, workload w, model_opener& opener)
      : growing_steering{std::move(w), opener}, session_{s} {}

  void pause(const std::string& model) override { session_.pause(model); }
  void resume(const std::string& model) override { session_.resume(model); }
  void copy_begun(const trial_copy& copy, bool joined) override { session_.copy_begun(copy.trial, joined); }

 private:
  run_status now() override { return session_.status(); }
  void end(const std::string& model) override { session_.stop(model); }
  void interrupt() override { session_.interrupt(); }
  std::filesystem::path keep(const std::string& model, std::optional<std::uint32_t> /*steps*/) override {
    return session_.keep(model);
  }
  void queue(joining_model m) override { session_.queue_model(std::move(m.what), std::move(m.refused)); }

  session& session_;
};

}  // namespace hydra::apps
