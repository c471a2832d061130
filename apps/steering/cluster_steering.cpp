#include "apps/steering/cluster_steering.hpp"

#include "apps/steering/status_json.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

[[noreturn]] void refuse_command(const char* what) {
  throw fault_error{fault_code::refused,
                    fmt::format("a run of several machines cannot {}: it can show its status, pause, resume and stop "
                                "models, and quit",
                                what)};
}

}  // namespace

void cluster_steering::ended(const report& r) {
  const std::lock_guard lock{ending_};
  last_ = last_status(r);
}

nlohmann::ordered_json cluster_steering::status() {
  {
    const std::lock_guard lock{ending_};
    if (last_) return to_json(*last_);
  }
  return to_json(run_.status());
}

void cluster_steering::stop(const std::string& model) {
  run_.stop(model);
  stopped_.add(model);
}

std::string cluster_steering::clone(const std::string&, const std::vector<std::string>&) {
  refuse_command("clone models");
}
std::vector<std::string> cluster_steering::add(const std::string&) { refuse_command("add models"); }

void cluster_steering::quit() {
  if (!quitting_.exchange(true)) run_.interrupt();  // a second one would end the run without saving
}

}  // namespace hydra::apps
