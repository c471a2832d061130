#pragma once
// Steers a run of `hydra train --listen`.

#include "actors/cluster/cluster.hpp"
#include "apps/steering/growing_steering.hpp"
#include "apps/workload/node_session.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace hydra::apps {

class cluster_steering final : public growing_steering {
 public:
  /// `run` outlives it, too.
  cluster_steering(cluster& run, workload w, model_opener& opener)
      : growing_steering{std::move(w), opener}, run_{run} {}

  void pause(const std::string& model) override { run_.pause(model); }
  void resume(const std::string& model) override { run_.resume(model); }
  void copy_begun(const trial_copy& copy, bool joined) override { run_.copy_begun(copy.trial, joined); }

 private:
  run_status now() override { return run_.status(); }
  void end(const std::string& model) override { run_.stop(model); }
  void interrupt() override { run_.interrupt(); }
  std::filesystem::path keep(const std::string& model, std::optional<std::uint32_t> steps) override {
    return run_.keep(model, steps);
  }
  /// One that no node can train waits for another node.
  void queue(joining_model m) override { run_.add(addition_of(m.what, m.table)); }

  cluster& run_;
};

}  // namespace hydra::apps
