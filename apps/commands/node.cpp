#include "apps/commands/commands.hpp"

#include "actors/cluster/member.hpp"
#include "apps/commands/exit_status.hpp"
#include "apps/commands/interrupts.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/run_folder/cluster_file.hpp"
#include "apps/run_folder/folder_lock.hpp"
#include "apps/workload/node_session.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/file_system.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct node_options {
  std::optional<std::string> join, keys, name, address, folder, devices, host_memory;
  std::vector<std::string> plugins;
  std::string patience = "10min";
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// By the option, else by the variables that launchers of other systems set, too.
std::string coordinator_of(const node_options& o) {
  if (o.join) return *o.join;
  if (const std::string given = variable("HYDRA_COORDINATOR"); !given.empty()) return given;
  if (const std::string host = variable("MASTER_ADDR"), port = variable("MASTER_PORT"); !host.empty() && !port.empty())
    return host + ":" + port;
  hydra::refuse(
      "--join HOST:PORT, or --join with the run folder, says where hydra train --listen runs; or HYDRA_COORDINATOR, or "
      "MASTER_ADDR and MASTER_PORT in the environment");
}

/// The run may be about to begin, or to be resumed.
[[noreturn]] void refuse_run(const fs::path& run) {
  std::error_code ignored;
  const char* const what = fs::is_directory(run, ignored) ? "cluster.json in that folder" : "such folder";
  throw fault_error(fault_code::io, fmt::format("--join \"{}\": there is no {} yet: hydra train --listen makes it",
                                                run.string(), what));
}

network_address address_of_run(const fs::path& run) {
  const auto known = read_cluster(run);
  if (!known) refuse_run(run);
  return parse_address(known->address);
}

/// "HOST:PORT/", "tcp://HOST:PORT".
bool begins_as_address(const std::string& to) {
  const std::string first = to.substr(0, to.find('/'));
  const auto colon = first.rfind(':');
  return colon != std::string::npos && first.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

/// A folder, perhaps of a run that has not begun; else it is an address.
bool is_run(const std::string& to) {
  std::error_code ignored;
  if (fs::exists(to, ignored)) return fs::is_directory(to, ignored);
  return to.find('/') != std::string::npos && !begins_as_address(to);
}

/// What a node is told. Which of both it is does not change: the folder of a run may vanish for a moment.
struct meeting_place {
  explicit meeting_place(std::string told) : to(std::move(told)), run(is_run(to)) {}

  network_address address() const { return run ? address_of_run(to) : parse_address(to); }

  std::string to;
  bool run;  ///< the folder of one; else an address
};

/// Those of the folder are there before it has an address.
cluster_keys keys_for(const meeting_place& where, const std::optional<std::string>& given) {
  const network_address at = where.address();
  if (given) return cluster_keys::in(*given);
  if (!where.run)
    hydra::refuse(
        fmt::format("{0}: a node needs the keys of the run: hydra node --join RUN takes address and keys from the run "
                    "folder, if this "
                    "machine sees it; else hydra node --join {0} --keys DIR, with the folder that hydra train was "
                    "given by --keys, or a copy of RUN/keys",
                    to_string(at)));
  const fs::path own = keys_of_run(where.to);
  std::error_code ignored;
  if (fs::exists(own, ignored)) return cluster_keys::in(own);
  // a run that has completed and is about to be resumed has an address of before
  throw fault_error(
      fault_code::io,
      fmt::format("--join \"{}\": there is no folder \"{}\" yet: hydra train --listen makes it, unless it is "
                  "given keys by --keys; then give the same to hydra node",
                  where.to, own.string()));
}

/// Different for two nodes of a machine.
std::string default_name() { return fmt::format("{}.{}", host_name(), ::getpid()); }

/// The default one has the number of the process in it. Of two nodes in one folder each would take the other's states.
void take_folder(const fs::path& folder, std::optional<folder_lock>& lock) {
  std::error_code why;
  fs::create_directories(folder, why);
  if (why) throw file_error("make the folder", folder, why.value());
  lock.emplace(folder);
  if (lock->taken())
    hydra::refuse(fmt::format("--folder {}: another node has it; give each node a folder of its own", folder.string()));
}

int status_of_end(node_end end) {
  switch (end) {
    case node_end::done:
    case node_end::left:
      return all_done;
    case node_end::lost:
      return interrupted;
    default:
      return some_failed;
  }
}

int serve(const node_options& o) {
  const blocked_signals blocked;  // before any thread is created
  const node_machine here{o.devices.value_or(""), o.host_memory, o.plugins};
  check_machine(here);
  const std::string name = o.name.value_or(default_name());
  if (name.empty()) hydra::refuse("--name: a node needs a name");
  const fs::path folder = fs::absolute(o.folder.value_or("nodes/" + name));
  std::optional<cluster_network> network;  // outlives what has joined
  cluster_member member{
      {.name = name,
       .folder = folder,
       .address = o.address.value_or(""),
       .patience = parse_duration(o.patience),
       .say = tell_line},
      [here](const node_accepted& what, const node_place& place) { return node_session(what, here, place); }};
  const interrupts watch{blocked, [&member] { member.leave(); }, "its models go to other nodes"};
  const meeting_place where{coordinator_of(o)};
  std::optional<cluster_keys> keys;
  if (const auto end = member.persist([&] { keys = keys_for(where, o.keys); })) return status_of_end(*end);
  network.emplace(*keys, add_cluster_messages);
  std::optional<folder_lock> lock;
  if (o.folder) take_folder(folder, lock);
  const int status = status_of_end(member.join(*network, [&where] { return where.address(); }));
  std::error_code ignored;
  if (!o.folder) fs::remove("nodes", ignored);  // if it is empty
  return status;
}

}  // namespace

command_action declare_node(command_line& line) {
  auto o = std::make_shared<node_options>();
  line.add_option(
      "--join", o->join,
      "HOST:PORT of hydra train --listen, or its run folder (default: HYDRA_COORDINATOR, else MASTER_ADDR and "
      "MASTER_PORT, of the environment)");
  line.add_option("--keys", o->keys, "folder with the keys of the cluster (default: those in the run folder)");
  line.add_option("--name", o->name,
                  "name of the node, unique in the cluster (default: name of the host and process number)");
  line.add_option("--address", o->address,
                  "name or address at which other nodes reach this one, for models that nodes train together (default: "
                  "the one towards the coordinator)");
  line.add_option("--folder", o->folder, "folder for the checkpoints of its models (default: nodes/NAME)");
  line.add_option("--devices", o->devices, "file with [[device]] tables instead of those of the workload");
  line.add_option("--host-memory", o->host_memory, "host memory that it may use, instead of [host] memory");
  add_plugin_option(line, o->plugins);
  line.add_option("--patience", o->patience, "how long it tries to find and reach a coordinator").shows_default();
  return [o] { return serve(*o); };
}

}  // namespace hydra::apps
