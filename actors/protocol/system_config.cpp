#include "actors/protocol/system_config.hpp"

#include "runtime/base/fault.hpp"

#include <caf/atom.hpp>

namespace hydra {

std::unique_ptr<caf::actor_system_config> make_system_config() {
  auto config = std::make_unique<caf::actor_system_config>();
  config->set("scheduler.policy", caf::atom("sharing"));
  config->set("scheduler.max-threads", 2);
  // As text instead of an atom it would be refused silently and stay at the default.
  if (caf::get_or(*config, "scheduler.policy", caf::atom("none")) != caf::atom("sharing")) {
    throw fault_error(fault_code::internal, "CAF did not accept its scheduler policy");
  }
  return config;
}

}  // namespace hydra
