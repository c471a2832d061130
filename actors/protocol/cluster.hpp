#pragma once
// Messages between the processes of a cluster. Only these, and those of advice.hpp, leave a process; they are plain
// data, and those that carry bytes of files are small: a message that takes long to send would keep others waiting.
// The story is in protocol.hpp ("cluster"). Whoever is offered files pulls them; either side does both.

#include "actors/protocol/caf_version.hpp"
#include "actors/protocol/exchange.hpp"
#include "actors/protocol/run_status.hpp"
#include "actors/protocol/steering.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/typed_actor.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// Of the messages below: processes with another one are refused.
inline constexpr std::uint32_t cluster_protocol = 7;

/// An assignment of a model has an epoch. What a node says about an older one is dropped: the node was believed lost,
/// and another one has the model.
using assignment_epoch = std::uint64_t;

// -- files ------------------------------------------------------------------------------------------------------------

/// Of a file, in order. `why`: it cannot be read, or the folders are not offered any more.
struct chunk {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::vector<char> bytes{};
  fault why{};

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, chunk& x) {
    return inspect_at_once(f, x.bytes, 16 << 20, [&](auto& size) { return f(x.file, x.offset, size, x.why); });
  }
};
using chunk_receiver = caf::typed_actor<caf::reacts_to<chunk>>;

struct want_chunk {
  std::uint64_t offer = 0;
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  chunk_receiver to{};

  friend auto inspect(auto& f, want_chunk& x) { return f(x.offer, x.file, x.offset, x.bytes, x.to); }
};

/// The receiver has what it wanted, or does not want it any more.
struct drop_folders {
  std::uint64_t offer = 0;

  friend auto inspect(auto& f, drop_folders& x) { return f(x.offer); }
};
using chunk_source = caf::typed_actor<caf::reacts_to<want_chunk>, caf::reacts_to<drop_folders>>;

struct offered_file {
  std::string folder{};  ///< a name
  std::string name{};
  byte_count size{};

  friend auto inspect(auto& f, offered_file& x) { return f(x.folder, x.name, x.size); }
};

/// Folders written by durable_folder, whose files their owner keeps open until drop_folders.
struct offered_folders {
  std::uint64_t offer = 0;
  chunk_source from{};
  std::vector<offered_file> files{};  ///< those of a folder together; none: there is nothing to pull

  friend auto inspect(auto& f, offered_folders& x) { return f(x.offer, x.from, x.files); }
};

// -- inputs -----------------------------------------------------------------------------------------------------------

struct offered_input_file {
  std::string name{};  ///< relative path; that of a folder begins with the folder's own name
  byte_count size{};
  std::string sha256{};

  friend auto inspect(auto& f, offered_input_file& x) { return f(x.name, x.size, x.sha256); }
};

struct input_offered {
  std::uint64_t offer = 0;  ///< for want_chunk
  std::string name{};       ///< of the file or folder
  std::vector<offered_input_file> files{};
  bool is_being_read = false;  ///< its checksums are not known yet, and another answer follows
  fault why{};                 ///< it cannot be read

  friend auto inspect(auto& f, input_offered& x) { return f(x.offer, x.name, x.files, x.is_being_read, x.why); }
};
using input_receiver = chunk_receiver::extend<caf::reacts_to<input_offered>>;

/// Offer the files of an input of the workload.
struct want_input {
  std::string name{};  ///< as the workload has it
  input_receiver to{};

  friend auto inspect(auto& f, want_input& x) { return f(x.name, x.to); }
};
using input_source = chunk_source::extend<caf::reacts_to<want_input>>;

// -- from the COORDINATOR ---------------------------------------------------------------------------------------------

struct node_accepted {
  std::uint64_t run = 0;   ///< the same after the coordinator was started again: checkpoints of this run are of use
  std::string name{};      ///< of the run
  std::string workload{};  ///< TOML, complete
  std::string began_in{};  ///< folder from which its relative paths start
  input_source inputs{};   ///< has the files that it names
  std::vector<std::string> added{};  ///< names of models that were added to the run, which come behind the workload's

  friend auto inspect(auto& f, node_accepted& x) {
    return f(x.run, x.name, x.workload, x.began_in, x.inputs, x.added);
  }
};

struct node_refused {
  std::string why{};

  friend auto inspect(auto& f, node_refused& x) { return f(x.why); }
};

/// One of the nodes that train a model together. They have its replicas in their order.
struct team_member {
  std::string address{};  ///< of its EXCHANGE
  std::uint32_t replicas = 0;

  friend auto inspect(auto& f, team_member& x) { return f(x.address, x.replicas); }
};

/// A model that was added to the run while it was under way.
struct added_model {
  std::string name{};   ///< empty: the model is one of the workload
  std::string table{};  ///< TOML, with paths as they are for the coordinator
  std::string data{};   ///< data_lines_of() what it reads
  std::string begins{};  ///< checkpoint_digest() of the state that it begins from

  friend auto inspect(auto& f, added_model& x) { return f(x.name, x.table, x.data, x.begins); }
};

/// Train the model, from the newest of these checkpoints; from the beginning if there is none.
struct take_model {
  std::uint32_t model = 0;  ///< place in the workload, or behind it, here and in the next ones
  assignment_epoch epoch = 0;
  offered_folders checkpoints{};
  std::vector<team_member> team{};  ///< none: alone. Only the first one saves it, and hands it over
  std::uint32_t place = 0;          ///< of this node in the team
  added_model added{};

  friend auto inspect(auto& f, take_model& x) {
    return f(x.model, x.epoch, x.checkpoints, x.team, x.place, x.added);
  }
};

/// Save the model between two steps, and offer its checkpoint.
struct give_back {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;

  friend auto inspect(auto& f, give_back& x) { return f(x.model, x.epoch); }
};

/// Do not train the model any more, and do not save it. There is no answer.
struct drop_assigned {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;

  friend auto inspect(auto& f, drop_assigned& x) { return f(x.model, x.epoch); }
};

/// End the model with the step that has begun.
struct stop_assigned {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;

  friend auto inspect(auto& f, stop_assigned& x) { return f(x.model, x.epoch); }
};

/// Save the model between two steps, offer that (handover::kept), and train it on.
struct keep_assigned {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;

  friend auto inspect(auto& f, keep_assigned& x) { return f(x.model, x.epoch); }
};

/// The search has decided: the trial, which waits after so many steps, or will, goes on or stops.
struct trial_told {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::uint32_t steps = 0;
  bool stop = false;

  friend auto inspect(auto& f, trial_told& x) { return f(x.model, x.epoch, x.steps, x.stop); }
};

/// Offer the checkpoints of the model that an earlier membership has left.
struct offer_found {
  std::uint32_t model = 0;

  friend auto inspect(auto& f, offer_found& x) { return f(x.model); }
};

struct end_node {
  bool all_kept = false;  ///< of what the node has saved nothing is needed any more

  friend auto inspect(auto& f, end_node& x) { return f(x.all_kept); }
};

using node_actor =
    chunk_source::extend<caf::reacts_to<node_accepted>, caf::reacts_to<node_refused>, caf::reacts_to<take_model>,
                         caf::reacts_to<give_back>, caf::reacts_to<drop_assigned>, caf::reacts_to<stop_assigned>,
                         caf::reacts_to<keep_assigned>, caf::reacts_to<trial_told>, caf::reacts_to<offer_found>,
                         caf::reacts_to<end_node>>;

// -- from a NODE ------------------------------------------------------------------------------------------------------

struct join_cluster {
  std::uint32_t protocol = 0;
  std::string build{};         ///< versions and processor features that decide bits
  std::string name{};          ///< of the node; one that joins again under its name replaces the one before
  std::uint64_t instance = 0;  ///< random, one for each time that it joins
  node_actor node{};

  friend auto inspect(auto& f, join_cluster& x) { return f(x.protocol, x.build, x.name, x.instance, x.node); }
};

struct node_device {
  std::string name{};
  std::string kind{};
  double speed = 1;  ///< emulated

  friend auto inspect(auto& f, node_device& x) { return f(x.name, x.kind, x.speed); }
};

/// A model as a node has planned it.
struct planned_model {
  std::string identity{};  ///< what decides its results
  std::uint32_t steps = 0;
  duration work{};  ///< of its computations, on a device of speed 1
  byte_count checkpoint{};
  std::uint32_t lanes = 1;  ///< units of a step that may be computed at a time
  std::uint32_t saved = 0;  ///< steps of the newest checkpoint that it has; of an earlier membership in the same run
  std::uint32_t replicas = 1;
  std::uint32_t nodes = 1;  ///< that are to train it together
  std::string unfit{};      ///< why the node cannot hold it; the rest is not known then

  friend auto inspect(auto& f, planned_model& x) {
    return f(x.identity, x.steps, x.work, x.checkpoint, x.lanes, x.saved, x.replicas, x.nodes, x.unfit);
  }
};

struct node_planned {
  std::uint64_t instance = 0;
  fault why{};  ///< it cannot train the workload
  std::vector<node_device> devices{};
  std::vector<planned_model> models{};  ///< all of the workload
  std::vector<std::uint32_t> added{};   ///< planned_model::saved of node_accepted::added
  std::string exchange{};               ///< address of its EXCHANGE; empty: no model is trained by several nodes

  friend auto inspect(auto& f, node_planned& x) {
    return f(x.instance, x.why, x.devices, x.models, x.added, x.exchange);
  }
};

struct assignment_began {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;

  friend auto inspect(auto& f, assignment_began& x) { return f(x.model, x.epoch); }
};

struct assignment_refused {
  std::uint64_t instance = 0;  ///< of the node
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  fault why{};
  std::uint32_t place = 0;  ///< in the team, of the node because of which; its own, or that of one that it cannot reach

  friend auto inspect(auto& f, assignment_refused& x) { return f(x.instance, x.model, x.epoch, x.why, x.place); }
};

/// A model that was to be given back could not be saved, and is trained on.
struct assignment_stays {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  fault why{};

  friend auto inspect(auto& f, assignment_stays& x) { return f(x.model, x.epoch, x.why); }
};

enum class handover : std::uint8_t {
  saved,       ///< the node trains it on
  kept,        ///< the same, and it was asked to save it
  given_back,  ///< as it was asked to
  ended,       ///< the model has ended
  found,       ///< it was saved in an earlier membership; without an epoch
};

struct checkpoint_offered {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  handover what = handover::saved;
  std::uint32_t steps = 0;  ///< complete
  offered_folders checkpoints{};
  model_phase end = model_phase::training;  ///< of one that has ended
  fault why{};                              ///< of one that has failed, or could not be kept
  std::string digest{};                     ///< of its parameters

  friend auto inspect(auto& f, checkpoint_offered& x) {
    return f(x.model, x.epoch, x.what, x.steps, x.checkpoints, x.end, x.why, x.digest);
  }
};

/// CAF changes numbers that are not finite.
struct sent_number {
  bool known = false;
  std::uint64_t bits = 0;

  sent_number() = default;
  explicit sent_number(std::optional<double> n) : known(n), bits(std::bit_cast<std::uint64_t>(n.value_or(0))) {}
  std::optional<double> value() const { return known ? std::optional(std::bit_cast<double>(bits)) : std::nullopt; }

  friend auto inspect(auto& f, sent_number& x) { return f(x.known, x.bits); }
};

/// A trial of a search has been evaluated, and waits for trial_told.
struct trial_waits {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::uint32_t steps = 0;
  sent_number score{};  ///< as in trial_result

  friend auto inspect(auto& f, trial_waits& x) { return f(x.model, x.epoch, x.steps, x.score); }
};

struct assignment_progress {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  std::uint32_t steps = 0;
  std::uint32_t of = 0;  ///< 0: not known yet
  sent_number loss{};    ///< as in model_now
  sent_number validation{};
  duration step_work{};
  duration step_chain{};

  friend auto inspect(auto& f, assignment_progress& x) {
    return f(x.model, x.epoch, x.steps, x.of, x.loss, x.validation, x.step_work, x.step_chain);
  }
};

struct device_progress {
  double busy = 0;  ///< as in device_now
  byte_count used{}, peak{}, budget{};

  friend auto inspect(auto& f, device_progress& x) { return f(x.busy, x.used, x.peak, x.budget); }
};

/// Of a model that begins from a checkpoint: lines of metrics.jsonl of the steps in it.
struct lines_before {
  std::uint32_t model = 0;
  std::string text{};

  friend auto inspect(auto& f, lines_before& x) { return f(x.model, x.text); }
};

/// CAF sends no std::optional.
struct sent_expense {
  duration time{};
  bool has_cost = false, has_joules = false;
  std::int64_t ten_thousandths = 0, joules = 0;

  sent_expense() = default;
  explicit sent_expense(const expense& e)
      : time(e.time), has_cost(e.cost), has_joules(e.joules),
        ten_thousandths(e.cost.value_or(money{}).ten_thousandths), joules(e.joules.value_or(0)) {}
  expense value() const {
    return {time, has_cost ? std::optional(money{ten_thousandths}) : std::nullopt,
            has_joules ? std::optional(joules) : std::nullopt};
  }

  friend auto inspect(auto& f, sent_expense& x) {
    return f(x.time, x.has_cost, x.has_joules, x.ten_thousandths, x.joules);
  }
};

struct node_progressed {
  std::uint64_t instance = 0;
  std::vector<assignment_progress> models{};
  std::vector<device_progress> devices{};
  byte_count host_used{}, host_peak{}, host_budget{};
  duration elapsed{};           ///< of its run
  std::vector<lines_before> before{};  ///< of models that have begun there; each node where one begins says them
  std::string metrics_lines{};         ///< lines of its metrics.jsonl, whole ones
  byte_count exchanged{};       ///< sent to nodes with which it trains models together
  duration exchanging{};        ///< for which such an exchange was under way
  sent_expense spent{};         ///< of its run, ...
  std::vector<sent_expense> spent_by{};  ///< ... of each model's part in it, also after the model has left, ...
  std::string currency{};       ///< ... in this

  friend auto inspect(auto& f, node_progressed& x) {
    return f(x.instance, x.models, x.devices, x.host_used, x.host_peak, x.host_budget, x.elapsed, x.before,
             x.metrics_lines, x.exchanged, x.exchanging, x.spent, x.spent_by, x.currency);
  }
};

struct node_leaves {
  std::uint64_t instance = 0;

  friend auto inspect(auto& f, node_leaves& x) { return f(x.instance); }
};

struct node_ended {
  std::uint64_t instance = 0;
  fault why{};              ///< its run has failed
  offered_folders files{};  ///< report.json and others of its run

  friend auto inspect(auto& f, node_ended& x) { return f(x.instance, x.why, x.files); }
};

using coordinator_actor =
    chunk_source::extend<caf::reacts_to<join_cluster>, caf::reacts_to<node_planned>, caf::reacts_to<assignment_began>,
                         caf::reacts_to<assignment_refused>, caf::reacts_to<assignment_stays>,
                         caf::reacts_to<checkpoint_offered>, caf::reacts_to<trial_waits>,
                         caf::reacts_to<node_progressed>, caf::reacts_to<node_leaves>, caf::reacts_to<node_ended>>;

/// For both sides.
inline void add_cluster_messages(caf::actor_system_config& config) {
  config.add_message_type<chunk>("hydra::chunk");
  config.add_message_type<want_chunk>("hydra::want_chunk");
  config.add_message_type<drop_folders>("hydra::drop_folders");
  config.add_message_type<input_offered>("hydra::input_offered");
  config.add_message_type<want_input>("hydra::want_input");
  config.add_message_type<node_accepted>("hydra::node_accepted");
  config.add_message_type<node_refused>("hydra::node_refused");
  config.add_message_type<take_model>("hydra::take_model");
  config.add_message_type<give_back>("hydra::give_back");
  config.add_message_type<drop_assigned>("hydra::drop_assigned");
  config.add_message_type<stop_assigned>("hydra::stop_assigned");
  config.add_message_type<offer_found>("hydra::offer_found");
  config.add_message_type<end_node>("hydra::end_node");
  config.add_message_type<join_cluster>("hydra::join_cluster");
  config.add_message_type<node_planned>("hydra::node_planned");
  config.add_message_type<assignment_began>("hydra::assignment_began");
  config.add_message_type<assignment_refused>("hydra::assignment_refused");
  config.add_message_type<assignment_stays>("hydra::assignment_stays");
  config.add_message_type<checkpoint_offered>("hydra::checkpoint_offered");
  config.add_message_type<keep_assigned>("hydra::keep_assigned");
  config.add_message_type<trial_told>("hydra::trial_told");
  config.add_message_type<trial_waits>("hydra::trial_waits");
  config.add_message_type<node_progressed>("hydra::node_progressed");
  config.add_message_type<node_leaves>("hydra::node_leaves");
  config.add_message_type<node_ended>("hydra::node_ended");
  add_exchange_messages(config);
}

}  // namespace hydra
