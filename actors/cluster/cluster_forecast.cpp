#include "actors/cluster/cluster_forecast.hpp"

#include "actors/cluster/assignments.hpp"
#include "actors/cluster/simulated_node.hpp"
#include "actors/simulation/shortened_run.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// Between two decisions passes so small a part of the lower bound, or of the time until then.
constexpr int resolution = 5000;

/// Of a model that moves, besides its transfers: an assumption.
constexpr duration restart = std::chrono::milliseconds(200);

double mean_speed(const std::vector<device_info>& devices) {
  double sum = 0;
  for (const auto& d : devices) {
    sum += d.speed;
  }
  return sum / static_cast<double>(devices.size());
}

/// All nodes side by side. Between two ticks each runs for itself.
class simulated_cluster {
 public:
  explicit simulated_cluster(const cluster_forecast_setup& setup) : setup_(setup), free_at_(setup.speeds.size()) {
    for (const double speed : setup.speeds) {
      add_node(speed);
    }
    limits_ = limits();
    for (std::size_t m = 0; m < setup_.models.size(); ++m) {
      const auto& model = setup_.models[m];
      state_.add_model(model.name, {}, {});
      state_.estimated(m, scaled(model.work), model.checkpoint, teams_[m].nodes);
    }
    state_.measured(scaled(restart));
  }

  cluster_forecast run() {
    const auto least = std::max(scaled(limits_.best()) / resolution, duration{1000});
    for (;;) {
      const auto commands = state_.decide();
      for (const auto& command : commands) {
        std::visit([this](const auto& c) { give(c); }, command);
      }
      if (commands.empty() && arrivals_.empty() &&
          std::ranges::all_of(nodes_, [](const auto& n) { return n->is_idle(); })) {
        throw fault_error(fault_code::internal, "the simulated run of the cluster hangs");
      }
      now_ += std::max(least, now_ / resolution);
      for (const auto& n : nodes_) {
        n->run_until(now_);
      }
      let_arrive();
      look();
      if (failed_) {
        throw fault_error(failed_);
      }
      if (state_.over()) {
        return result();
      }
    }
  }

 private:
  void add_node(double speed) {
    auto plan = setup_.plan();
    plan.most_units *= setup_.speeds.size();
    auto run = shorten(std::move(plan));
    scale_ = run.scale;
    if (teams_.empty()) {
      find_teams(run.setup);
    }
    const byte_rate link{setup_.network.node.per_second() * scale_};
    state_.add_node(
        "", {.devices = run.setup.devices.size(), .speed = speed * mean_speed(run.setup.devices), .link = link});
    const auto network = for_one_exchange(run.setup);
    nodes_.push_back(std::make_unique<simulated_node>(std::move(run.setup), speed, teams_, network, saved_));
  }

  /// All nodes train it together that may, as they are all there.
  void find_teams(const simulation_setup& plan) {
    const auto here = static_cast<std::uint32_t>(setup_.speeds.size());
    for (std::size_t m = 0; m < plan.planned.size(); ++m) {
      const auto& model = setup_.models[m];
      teams_.push_back({std::max(std::min({model.nodes, plan.planned[m]->plan.replicas, here}), 1U), model.gathers});
    }
  }

  /// As many as there are optimizer workers are under way at a time when the network is what takes longest.
  network_rates for_one_exchange(const simulation_setup& plan) const {
    auto network = setup_.network;
    network.node = byte_rate{network.node.per_second() / std::max(plan.optimizer_workers, 1)};
    return network;
  }

  cluster_forecast result() const {
    const auto took = from_seconds(seconds(now_) * scale_);
    return {.makespan = scale_ > 1 ? std::max(took, limits_.best()) : took,
            .limits = limits_,
            .moves = state_.moves(),
            .moved = moved_,
            .transit = from_seconds(seconds(transit_) * scale_)};
  }

  bounds limits() const {
    auto all = setup_.plan();
    const auto own = std::exchange(all.devices, {});
    for (const double speed : setup_.speeds) {
      for (auto d : own) {
        d.speed *= speed;
        all.devices.push_back(d);
      }
    }
    all.optimizer_workers *= static_cast<int>(setup_.speeds.size());
    return bounds_of(all.models, all);
  }

  /// In the time of the shortened run.
  duration scaled(duration d) const { return from_seconds(seconds(d) / scale_); }

  // -- what takes time ------------------------------------------------------------------------------------------------

  void after(duration time, std::function<void()> what) { arrivals_.emplace(now_ + time, std::move(what)); }

  /// A checkpoint between the coordinator and a node: one after the other.
  void after_transfer(std::size_t model, std::size_t node, std::function<void()> what) {
    const auto took = setup_.network.node.time_for(setup_.models[model].checkpoint) + setup_.network.latency;
    free_at_[node] = std::max(free_at_[node], now_) + scaled(took);
    after(free_at_[node] - now_, std::move(what));
  }

  void let_arrive() {
    while (!arrivals_.empty() && arrivals_.begin()->first <= now_) {
      const auto what = arrivals_.extract(arrivals_.begin()).mapped();
      what();
    }
  }

  // -- commands -------------------------------------------------------------------------------------------------------

  void give(const assign_model& c) {
    if (c.from_step) {
      after_transfer(c.model, c.node, [this, c] { after(scaled(restart), [this, c] { start(c); }); });
    } else {
      start(c);
    }
  }

  void start(const assign_model& c) {
    for (const auto n : members_of(c.node, c.helpers)) {
      nodes_[n]->steer(c.model, model_command::resume, [this, c, n](const fault& why) {
        failed_ = why ? why : failed_;
        if (n == c.node && !why) {
          began(c);
        }
      });
    }
  }

  void began(const assign_model& c) {
    state_.began(c.model, c.epoch);
    if (const auto left = left_.extract(c.model)) {
      transit_ += now_ - left.mapped();
    }
  }

  void give(const take_back_model& c) {
    left_[c.model] = now_;
    nodes_[c.node]->steer(c.model, model_command::pause_between_steps, [this, c](const fault& why) {
      if (!why) {
        paused(c);
      } else if (why.code != fault_code::refused) {  // that one has ended meanwhile
        failed_ = why;
      }
    });
  }

  /// One that has done nothing there has no checkpoint that the coordinator does not have.
  void paused(const take_back_model& c) {
    const auto saved = saved_.find(setup_.models[c.model].name);
    if (saved == saved_.end() || saved->second.standing.next.step == state_.of(c.model).saved_at.value_or(0)) {
      state_.released(c.model, c.epoch);
      return;
    }
    after_transfer(c.model, c.node, [this, c, step = saved->second.standing.next.step] {
      moved_ += setup_.models[c.model].checkpoint;
      state_.saved(c.model, c.epoch, step);
      state_.released(c.model, c.epoch);
    });
  }

  /// Of those who have trained it together: it has ended there, too.
  void give(const drop_model&) {}

  // -- what the nodes do ----------------------------------------------------------------------------------------------

  void look() {
    std::vector<std::vector<model_now>> models;
    for (const auto& n : nodes_) {
      models.push_back(n->models());
    }
    for (std::size_t m = 0; m < setup_.models.size(); ++m) {
      const auto& held = state_.of(m);
      if (held.phase != assignment_phase::training && held.phase != assignment_phase::taken_back) {
        continue;
      }
      std::vector<model_now> members;
      for (const auto n : members_of(*held.node, held.helpers)) {
        members.push_back(models[n].at(m));
      }
      look_at(m, members);
    }
  }

  /// It is as far as the last of its members.
  void look_at(std::size_t m, const std::vector<model_now>& members) {
    const auto is = [](const model_now& now, model_phase phase) { return now.phase == phase; };
    const auto has_ended = [&](const auto& now) {
      return is(now, model_phase::finished) || is(now, model_phase::stopped);
    };
    const auto failed = std::ranges::find(members, model_phase::failed, &model_now::phase);
    if (failed != members.end()) {
      failed_ = {failed->why, fmt::format("model '{}': {}", failed->name, failed->note)};
    } else if (std::ranges::all_of(members, has_ended)) {
      ended(m);
    } else if (std::ranges::none_of(members, [&](const auto& now) { return is(now, model_phase::waiting); })) {
      // One that waits does not know yet how many steps are done.
      const auto& last = *std::ranges::min_element(members, {}, &model_now::steps);
      state_.progressed(m, state_.of(m).epoch, last.steps, remaining(m, last));
    }
  }

  /// Its checkpoint goes to the coordinator.
  void ended(std::size_t m) {
    const auto& held = state_.of(m);
    if (!arriving_.insert(m).second) {
      return;
    }
    state_.progressed(m, held.epoch, held.steps, duration{1});
    after_transfer(m, *held.node, [this, m, epoch = held.epoch] { state_.ended(m, epoch, {}); });
  }

  duration remaining(std::size_t m, const model_now& now) const {
    const auto of = std::max(now.of.value_or(1), 1U);
    return std::max(scaled(setup_.models[m].work) / of * (of - std::min(now.steps, of)), duration{1});
  }

  static std::vector<std::size_t> members_of(std::size_t node, const std::vector<std::size_t>& helpers) {
    std::vector<std::size_t> all{node};
    all.insert(all.end(), helpers.begin(), helpers.end());
    return all;
  }

  const cluster_forecast_setup& setup_;
  saved_models saved_;
  std::vector<std::unique_ptr<simulated_node>> nodes_;
  std::vector<simulated_team> teams_;  ///< of the models
  assignments state_;
  std::multimap<duration, std::function<void()>> arrivals_;
  std::vector<duration> free_at_;   ///< the link of each node
  std::set<std::size_t> arriving_;  ///< models that have ended
  bounds limits_;
  duration now_{};
  double scale_ = 1;
  std::map<std::size_t, duration> left_;  ///< when models in transit were taken back
  duration transit_{};
  byte_count moved_{};
  fault failed_{};  ///< of a model that no node should have refused
};

}  // namespace

cluster_forecast predict(const cluster_forecast_setup& setup) { return simulated_cluster(setup).run(); }

}  // namespace hydra
