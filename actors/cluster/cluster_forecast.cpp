#include "actors/cluster/cluster_forecast.hpp"

#include "actors/cluster/assignments.hpp"
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

/// Where models continue that were taken back.
using saved_models = std::map<std::string, model_checkpoint>;

/// Keeps the states of models between two steps, of which a simulation has no bytes.
class saved_model_store final : public checkpoint_store {
 public:
  explicit saved_model_store(saved_models& saved) : saved_(saved) {}
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    for (auto s = c.what->size(); s-- > 0;) {
      saved(shard_index{static_cast<std::uint32_t>(s)});
    }
    auto kept = c;
    kept.memory.homes = homes_without_bytes(c.what->plan);
    saved_.insert_or_assign(c.what->name, std::move(kept));
  }

 private:
  saved_models& saved_;
};

/// A node: all models of the plan, paused until they are given to it.
class node_run {
 public:
  node_run(simulation_setup setup, double speed, saved_models& saved) : store_(saved) {
    for (auto& d : setup.devices) {
      d.speed *= speed;
    }
    for (std::uint32_t i = 0; i < setup.planned.size(); ++i) {
      setup.waiting.insert(model_id{i});
    }
    setup.begin_paused = true;
    setup.records_spans = false;
    setup.checkpoints = {.store = &store_, .every_steps = 0, .every = {}};
    setup.saved = [&saved](const std::string& model) -> std::optional<model_checkpoint> {
      const auto found = saved.find(model);
      return found == saved.end() ? std::nullopt : std::optional(found->second);
    };
    run_ = std::make_unique<simulation>(std::move(setup));
    start_ = run_->now();
  }

  void run_until(duration t) { run_->run_until(start_ + t); }
  void steer(const std::string& model, model_command what, command_sink answer) {
    run_->steer(model, what, std::move(answer));
  }
  run_status status() { return run_->status(); }

 private:
  saved_model_store store_;
  std::unique_ptr<simulation> run_;
  time_point start_{};
};

/// All nodes side by side. Between two ticks each runs for itself.
class simulated_cluster {
 public:
  explicit simulated_cluster(const cluster_forecast_setup& setup) : setup_(setup) {
    for (const double speed : setup.speeds) {
      auto plan = shorten(setup.plan());
      scale_ = plan.scale;
      devices_ = plan.setup.devices.size();
      nodes_.push_back(std::make_unique<node_run>(std::move(plan.setup), speed, saved_));
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
      std::ranges::for_each(nodes_, [this](const auto& n) { n->run_until(now_); });
      let_arrive();
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        look_at(n);
      }
      if (failed_) {
        throw fault_error(failed_);
      }
      if (state_.over()) {
        return {.makespan = std::max(from_seconds(seconds(now_) * scale_), limits_.best()),
                .limits = limits_,
                .moves = state_.moves(),
                .moved = moved_,
                .transit = from_seconds(seconds(transit_) * scale_)};
      }
    }
    throw fault_error(fault_code::internal, "the simulated run of the cluster hangs");
  }

 private:
  bounds limits() const {
    auto all = setup_.plan();
    const auto own = all.devices;
    all.devices.clear();
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
  duration transfer_of(std::size_t model) const {
    return scaled(setup_.link.time_for(setup_.models[model].checkpoint));
  }

  void introduce() {
    for (const auto& m : setup_.models) {
      state_.add_model(m.name, scaled(m.work), m.checkpoint);
    }
    for (const double speed : setup_.speeds) {
      const byte_rate link{setup_.link.per_second() * scale_};
      state_.add_node("", {.devices = devices_, .speed = speed, .link = link});
    }
    state_.measured(scaled(restart));
  }

  void give(const assign_model& c) {
    at(c.from_step ? transfer_of(c.model) + scaled(restart) : duration{}, [this, c] {
      nodes_[c.node]->steer(name_of(c.model), model_command::resume, [this, c](const fault& why) {
        if (why) {
          failed_ = why;
        } else {
          state_.began(c.model, c.epoch);
          if (const auto left = left_.extract(c.model)) {
            transit_ += now_ - left.mapped();
          }
        }
      });
    });
  }

  void give(const take_back_model& c) {
    nodes_[c.node]->steer(name_of(c.model), model_command::pause_between_steps, [this, c](const fault& why) {
      if (!why) {
        left_[c.model] = now_;
        at(transfer_of(c.model), [this, c] { taken_back(c); });
      } else if (why.code != fault_code::refused) {  // that one has ended meanwhile
        failed_ = why;
      }
    });
  }

  void give(const drop_model&) {}  // of nodes that train a model together

  void taken_back(const take_back_model& c) {
    if (const auto found = saved_.find(name_of(c.model)); found != saved_.end()) {
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

  void look_at(std::size_t n) {
    const auto status = nodes_[n]->status();
    for (std::size_t m = 0; m < status.models.size(); ++m) {
      const auto& held = state_.of(m);
      if (held.node != n || held.phase == assignment_phase::assigned) {
        continue;
      }
      const auto& now = status.models[m];
      if (now.phase == model_phase::failed) {
        failed_ = {now.why, fmt::format("model '{}': {}", now.name, now.note)};
      }
      if (now.phase == model_phase::finished || now.phase == model_phase::stopped) {
        state_.ended(m, held.epoch, {});
      } else if (now.phase != model_phase::waiting) {  // it does not know yet how many steps are done
        state_.progressed(m, held.epoch, now.steps, remaining(m, now));
      }
    }
  }

  duration remaining(std::size_t m, const model_now& now) const {
    const auto of = std::max(now.of.value_or(1), 1U);
    return std::max(scaled(setup_.models[m].work) / of * (of - std::min(now.steps, of)), duration{1});
  }

  const std::string& name_of(std::size_t m) const { return setup_.models.at(m).name; }

  const cluster_forecast_setup& setup_;
  saved_models saved_;
  std::vector<std::unique_ptr<node_run>> nodes_;
  assignments state_;
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
