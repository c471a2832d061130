#include "apps/commands/commands.hpp"

#include "actors/cluster/keys.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace hydra::apps {

namespace {

int make_keys(const std::string& what, const std::string& folder) {
  if (what != "keys")
    hydra::refuse(fmt::format("hydra cluster: \"{}\" is not known; hydra cluster keys DIR makes keys", what));
  make_cluster_keys(folder);
  tell_line(fmt::format(
      "\"{}\" has the keys of a new cluster: copy it to every machine, over a channel that others cannot read, "
      "and give it to hydra train --listen and hydra node by --keys. Whoever has it belongs to the cluster.",
      folder));
  return 0;
}

}  // namespace

command_action declare_cluster(command_line& line) {
  struct given {
    std::string what, folder;
  };
  auto o = std::make_shared<given>();
  line.add_option("what", o->what, "keys: makes the keys that let machines reach each other, and nobody else")
      .required();
  line.add_option("folder", o->folder, "folder for them, must not exist").required();
  return [o] { return make_keys(o->what, o->folder); };
}

}  // namespace hydra::apps
