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
#include <string>
#include <utility>

namespace hydra {

namespace {

constexpr int ticks_of_bound = 5000;  ///< between two decisions: a part of the lower bound
constexpr int most_ticks = 100 * ticks_of_bound;

/// Of a model that moves, besides its transfer: so often a NODE looks at its run.
constexpr duration restart = std::chrono::milliseconds(200);

/// All nodes side by side. Between two ticks each runs for itself.
class simulated_cluster {
 public:
  explicit simulated_cluster(const cluster_forecast_setup& setup) : setup_(setup) {
    for (const double speed : setup.speeds) {
      auto plan = shorten(setup.plan());
      scale_ = plan.scale;
      devices_ = plan.setup.devices.size();
      most_nodes_ = most_nodes(plan.setup);
      nodes_.push_back(
          std::make_unique<simulated_node>(std::move(plan.setup), speed, most_nodes_, setup.network, saved_));
    }
    limits_ = limits();
    tick_ = std::max(from_seconds(seconds(limits_.best()) / scale_ / ticks_of_bound), duration{1000});
    introduce();
  }

  cluster_forecast run() {
    for (int i = 0; i < most_ticks; ++i) {
      for (const auto& command : state_.decide()) {
        std::visit([this](const auto& c) { give(c); }, command);
      }
      now_ += tick_;
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
    throw fault_error(fault_code::internal, "the simulated run of the cluster hangs");
  }

 private:
  cluster_forecast result() const {
    return {.makespan = std::max(from_seconds(seconds(now_) * scale_), limits_.best()),
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

  /// That train each model together.
  std::vector<std::uint32_t> most_nodes(const simulation_setup& plan) const {
    std::vector<std::uint32_t> all;
    for (std::size_t m = 0; m < plan.planned.size(); ++m) {
      const auto here = static_cast<std::uint32_t>(setup_.speeds.size());
      all.push_back(std::max(std::min({setup_.models[m].nodes, plan.planned[m]->plan.replicas, here}), 1U));
    }
    return all;
  }

  /// In the time of the shortened run.
  duration scaled(duration d) const { return from_seconds(seconds(d) / scale_); }
  duration transfer_of(std::size_t model) const {
    return scaled(setup_.network.node.time_for(setup_.models[model].checkpoint) + setup_.network.latency);
  }

  void introduce() {
    for (std::size_t m = 0; m < setup_.models.size(); ++m) {
      const auto& model = setup_.models[m];
      state_.add_model(model.name, {}, {});
      state_.estimated(m, scaled(model.work), model.checkpoint, most_nodes_[m]);
    }
    for (const double speed : setup_.speeds) {
      const byte_rate link{setup_.network.node.per_second() * scale_};
      state_.add_node("", {.devices = devices_, .speed = speed, .link = link});
    }
    state_.measured(scaled(restart));
  }

  void give(const assign_model& c) {
    at(c.from_step ? transfer_of(c.model) + scaled(restart) : duration{}, [this, c] {
      const auto together = static_cast<std::uint32_t>(c.helpers.size() + 1);
      by_[c.model] = together;
      for (const auto n : members_of(c.node, c.helpers)) {
        nodes_[n]->steer(c.model, together, model_command::resume, [this, c, n](const fault& why) {
          failed_ = why ? why : failed_;
          if (n == c.node && !why) {
            began(c);
          }
        });
      }
    });
  }

  void began(const assign_model& c) {
    state_.began(c.model, c.epoch);
    if (const auto left = left_.extract(c.model)) {
      transit_ += now_ - left.mapped();
    }
  }

  void give(const take_back_model& c) {
    nodes_[c.node]->steer(c.model, by_[c.model], model_command::pause_between_steps, [this, c](const fault& why) {
      if (!why) {
        left_[c.model] = now_;
        at(transfer_of(c.model), [this, c] { taken_back(c); });
      } else if (why.code != fault_code::refused) {  // that one has ended meanwhile
        failed_ = why;
      }
    });
  }

  /// From those who have trained it together with another one.
  void give(const drop_model& c) {
    nodes_[c.node]->steer(c.model, by_[c.model], model_command::drop, [](const fault&) {});
  }

  void taken_back(const take_back_model& c) {
    if (const auto found = saved_.find(setup_.models[c.model].name); found != saved_.end()) {
      state_.saved(c.model, c.epoch, found->second.standing.next.step);
      moved_ += setup_.models[c.model].checkpoint;
    }
    state_.released(c.model, c.epoch);
  }

  void at(duration after, std::function<void()> what) { arrivals_.emplace(now_ + after, std::move(what)); }

  void let_arrive() {
    while (!arrivals_.empty() && arrivals_.begin()->first <= now_) {
      const auto what = arrivals_.extract(arrivals_.begin()).mapped();
      what();
    }
  }

  void look() {
    for (const auto& n : nodes_) {
      n->read();
    }
    for (std::size_t m = 0; m < setup_.models.size(); ++m) {
      const auto phase = state_.of(m).phase;
      if (phase == assignment_phase::training || phase == assignment_phase::taken_back) {
        look_at(m);
      }
    }
  }

  /// It ends with the last of its members; what is done is what the first of them has done.
  void look_at(std::size_t m) {
    const auto& held = state_.of(m);
    bool ended = true;
    for (const auto n : members_of(*held.node, held.helpers)) {
      const auto& now = nodes_[n]->of(m, by_[m]);
      ended = ended && (now.phase == model_phase::finished || now.phase == model_phase::stopped);
      if (now.phase == model_phase::failed) {
        failed_ = {now.why, fmt::format("model '{}': {}", now.name, now.note)};
      }
    }
    const auto& first = nodes_[*held.node]->of(m, by_[m]);
    if (ended) {
      state_.ended(m, held.epoch, {});
    } else if (first.phase != model_phase::waiting) {  // it does not know yet how many steps are done
      state_.progressed(m, held.epoch, first.steps, remaining(m, first));
    }
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
  std::vector<std::uint32_t> most_nodes_;
  assignments state_;
  std::map<std::size_t, std::uint32_t> by_;  ///< nodes that train a model together
  std::multimap<duration, std::function<void()>> arrivals_;
  bounds limits_;
  duration now_{}, tick_{};
  double scale_ = 1;
  std::size_t devices_ = 0;
  std::map<std::size_t, duration> left_;  ///< when models in transit were paused
  duration transit_{};
  byte_count moved_{};
  fault failed_{};  ///< of a model that no node should have refused
};

}  // namespace

cluster_forecast predict(const cluster_forecast_setup& setup) { return simulated_cluster(setup).run(); }

}  // namespace hydra
