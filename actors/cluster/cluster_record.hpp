#pragma once
// What has happened in a cluster, as its COORDINATOR has seen it, for the report.

#include "actors/protocol/cluster.hpp"
#include "actors/report/report.hpp"
#include "actors/report/shared_expense.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct cluster_node_record {
  std::string name;
  std::vector<node_device> devices;
  time_point joined{};               ///< with its plan
  std::optional<time_point> used{};  ///< when its first model was trained there
  std::optional<time_point> left{};
  bool lost = false;
  std::uint32_t failures = 0;       ///< as in node_report
  fault why{};                      ///< of one whose own run has failed
  node_progressed last{};           ///< what it has reported last
  std::optional<report> summary{};  ///< of its own run
};

struct cluster_model_record {
  std::string name;
  std::uint32_t of = 0;      ///< steps
  std::uint32_t before = 0;  ///< of them, before this run
  std::uint32_t steps = 0;
  std::optional<float> loss{};  ///< as in model_now
  std::optional<double> validation{};
  std::uint32_t lanes = 1;
  std::uint32_t replicas = 1;
  model_phase end = model_phase::waiting;  ///< finished, stopped, failed; else it has not ended
  fault why{};
  std::string digest{};
  duration step_work{};  ///< the smallest that a node has reported, or that all of those did who train it together
  std::map<std::size_t, duration> shares{};  ///< of it, by the nodes that train it now; 0: not known yet
  duration step_chain{};
  std::uint32_t redone = 0;           ///< steps that were lost with a node
  duration transit{};                 ///< between two nodes
  std::vector<std::string> nodes{};   ///< that have trained it, in order
  std::optional<time_point> began{};  ///< on its first node
  std::optional<time_point> completed{};
};

struct cluster_record {
  std::vector<cluster_node_record> nodes;
  std::vector<cluster_model_record> models;
  std::optional<time_point> began{};  ///< the first model was given to a node
  time_point ended{};
  bool interrupted = false;
  fault why{};              ///< the workload cannot be trained
  std::uint32_t moves = 0;  ///< of models, from one node to another, although nothing was lost
  byte_count moved{};       ///< bytes of checkpoints that have come
  shared_expense before{};  ///< taken by the parts of the run before
  std::vector<std::string> notes{};
};

/// The report of the whole: losses and evaluations are those of the models' checkpoints under `folder`, the run folder;
/// devices have the names of their nodes in front.
report build_cluster_report(const cluster_record& record, const std::filesystem::path& folder);

}  // namespace hydra
