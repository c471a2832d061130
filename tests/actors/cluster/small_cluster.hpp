#pragma once
// Clusters of nodes on threads of a test, each with a session and a network of its own.

#include "actors/cluster/asked_search.hpp"
#include "actors/cluster/cluster.hpp"
#include "actors/cluster/member.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/step_signal.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

using namespace hydra::literals;

namespace fs = std::filesystem;
using cases = std::vector<exact_case>;

inline cases some_models(std::size_t n, std::uint32_t steps) {
  cases all;
  for (std::size_t i = 0; i < n; ++i) {
    auto m = i % 2 == 0 ? tiny_gpt(0.1, true) : tiny_cnn();
    m.steps = steps;
    m.seed = i + 1;
    m.evaluate_every = 10;
    m.cuts = {};
    all.push_back(m);
  }
  return all;
}

/// Of each copy of a device whose models are not to end before something else has happened.
inline constexpr duration slow = std::chrono::milliseconds(1);

/// The session of a node with one device; its steps are reported to `steps`.
inline session_maker maker(const cases& models, byte_count memory, std::shared_ptr<step_signal> steps = nullptr,
                           duration latency = {}, const std::optional<search_settings>& search = {},
                           std::function<model_description(const added_model&)> open = nullptr) {
  return [=](const node_accepted&, const node_place& place) {
    auto s = std::make_unique<session>(session_options{.output = place.output,
                                                       .log = verbosity::quiet,
                                                       .checkpoint = {.every_steps = 8, .every_minutes = 0},
                                                       .begin_paused = true,
                                                       .keep_parameters = false,
                                                       .partners = place.partners});
    s->add_devices(1, cpu_device{.memory = memory, .latency = latency});
    if (steps) s->on<step_completed>([steps](const step_completed&, control&) { steps->step(); });
    for (std::size_t i = 0; i < models.size(); ++i) {
      auto m = describe(models[i], i);
      m.nodes = models[i].replicas;
      s->add_model(m);
    }
    if (search) s->use_search(asked_search(*search, place.evaluated));
    return made_session{std::move(s), open};
  };
}

/// The models of this node wait, after so many of its steps, until the gate opens: they cannot end before.
inline session_maker held(session_maker make, std::size_t steps, gate& until) {
  return [make = std::move(make), steps, &until](const node_accepted& what, const node_place& place) {
    auto made = make(what, place);
    made.run->on<step_completed>([done = std::size_t{0}, steps, &until](const step_completed&, control&) mutable {
      if (++done == steps) until.wait();
    });
    return made;
  };
}

inline cluster_workload workload_of(const cases& models, const fs::path& folder) {
  cluster_workload w{.run = 7, .name = "test", .folder = folder};
  for (std::size_t i = 0; i < models.size(); ++i) w.models.push_back("model-" + std::to_string(i));
  fs::create_directories(folder);
  return w;
}

/// A node with a network of its own, on a thread; it joins the run in the folder.
class test_node {
 public:
  test_node(const std::string& name, const fs::path& folder, const std::string& address, session_maker make)
      : network_(cluster_keys::in(keys_of_run(folder / "run")), add_cluster_messages),
        member_({.name = name,
                 .folder = folder / name,
                 .patience = std::chrono::seconds(20),
                 .say = [](const std::string&) { throw std::runtime_error("nobody hears"); }},
                std::move(make)),
        end_(std::async(std::launch::async,
                        [this, address] { return member_.join(network_, [&] { return parse_address(address); }); })) {}

  ~test_node() { leave(); }  // a test that fails ends

  void leave() { member_.leave(); }
  node_end end() { return end_.get(); }

 private:
  cluster_network network_;
  cluster_member member_;
  std::future<node_end> end_;
};

/// `moving`: a model that is stopped between two nodes has no digest.
inline void check_bits(const report& of, const cases& models, model_status status = model_status::finished,
                       bool moving = false) {
  REQUIRE(of.models.size() == models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto alone = train_spilled({models[i]}, {});
    REQUIRE(difference(train_plain(models[i]), alone, 0) == "");
    const auto& m = of.models[i];
    CHECK(m.status == status);
    CHECK(m.steps == models[i].steps);
    if (!moving || !m.digest.empty()) CHECK(m.digest == alone.summary.models[0].digest);
    CHECK(m.loss == alone.summary.models[0].loss);
    REQUIRE(m.validation.size() == alone.summary.models[0].validation.size());
    for (std::size_t v = 0; v < m.validation.size(); ++v)
      CHECK(m.validation[v].loss == alone.summary.models[0].validation[v].loss);
  }
}

/// A cluster's run on a thread, and what it has said.
class under_way {
 public:
  under_way(cluster_workload what, cluster_options options) : cluster_(std::move(what), with_ear(std::move(options))) {
    run_ = std::async(std::launch::async, [this] {
      const closer end{*this};
      return cluster_.run();
    });
  }

  ~under_way() {  // a test that fails ends
    cluster_.interrupt();
    cluster_.interrupt();
  }

  cluster& operator*() { return cluster_; }
  cluster* operator->() { return &cluster_; }
  report end() { return run_.get(); }
  /// For the nodes of this run.
  const std::shared_ptr<step_signal>& steps() const { return steps_; }

  bool said(const std::string& words) {
    const std::lock_guard lock(mutex_);
    return has_said(words);
  }

  /// How many nodes train the model together, as was said last.
  std::size_t team_of(const std::string& model) {
    const std::lock_guard lock(mutex_);
    return count_team(model);
  }

  /// Until its nodes have done so many steps more, of all models together; a step that nodes do together counts for
  /// each.
  void train_on(std::size_t steps) {
    if (!steps_->wait_for(steps_->steps() + steps)) refuse_end();
  }
  void wait_for_team(const std::string& model, std::size_t nodes) {
    wait_until([&] { return count_team(model) == nodes; });
  }
  void wait_for(const std::string& words) {
    wait_until([&] { return has_said(words); });
  }

 private:
  /// However the run ends.
  struct closer {
    under_way& of;
    ~closer() {
      {
        const std::lock_guard lock(of.mutex_);
        of.ended_ = true;
      }
      of.changed_.notify_all();
      of.steps_->end();
    }
  };

  cluster_options with_ear(cluster_options o) {
    o.say = [this](const std::string& text) {
      {
        const std::lock_guard lock(mutex_);
        said_ += text + "\n";
      }
      changed_.notify_all();
    };
    return o;
  }
  template <class Holds>
  void wait_until(const Holds& holds) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return holds() || ended_; });
    if (!holds()) refuse_end();
  }
  bool has_said(const std::string& words) const { return said_.find(words) != std::string::npos; }
  std::size_t count_team(const std::string& model) const {
    const auto line = said_.rfind(model + " -> ");
    auto nodes = line == std::string::npos ? "" : said_.substr(line, said_.find('\n', line) - line);
    nodes.resize(std::min(nodes.size(), nodes.find(", from step")));
    return static_cast<std::size_t>(std::ranges::count(nodes, ',')) + 1;
  }
  [[noreturn]] void refuse_end() { throw std::runtime_error("the run has ended, and said:\n" + said_); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string said_;
  bool ended_ = false;
  std::shared_ptr<step_signal> steps_ = std::make_shared<step_signal>();
  cluster cluster_;
  std::future<report> run_;
};

}  // namespace hydra::test
