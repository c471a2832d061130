#include "apps/commands/pieces_needed.hpp"

#include "actors/admission/planned_workload.hpp"
#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/assemble.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

namespace hydra::apps {

namespace {

struct need {
  byte_count memory;
  bool fits = false;
};

/// Of the device that decides whether a workload fits.
byte_count reserve_of(session& s) {
  return std::ranges::min_element(s.devices(), {}, &device_info::usable)->reserve;
}

/// None: that cannot be said.
std::optional<need> need_of_all(const workload& w) try {
  session_options quiet = w.options;
  quiet.log = verbosity::quiet;
  quiet.goal = {};  // all devices
  session s{quiet};
  model_opener opener{w};
  assemble(s, w, opener);
  return need{s.plan().sufficient + reserve_of(s), true};
} catch (const model_does_not_fit& e) {
  if (e.sufficient == byte_count{}) return std::nullopt;
  return need{e.sufficient, false};
} catch (const fault_error&) {
  return std::nullopt;
}

std::optional<need> need_with(const std::string& key, std::uint32_t pieces, const changed_workload& changed) try {
  return need_of_all(changed(key, std::to_string(pieces)));
} catch (const fault_error&) {
  return std::nullopt;
}

/// Of all models, if they can be divided: those of a grid are equally large.
std::optional<need> need_of(const std::string& model, std::uint32_t pieces, const changed_workload& changed) {
  const auto all = need_with("model.parallel.pieces", pieces, changed);
  return all ? all : need_with(fmt::format("model.{}.parallel.pieces", model), pieces, changed);
}

bool chooses_cuts(const model_description& m) {
  return std::holds_alternative<balanced_cut>(m.cuts) || std::holds_alternative<greedy_cut>(m.cuts);
}

}  // namespace

std::string pieces_needed(const workload& w, std::size_t model, const changed_workload& changed) {
  const model_description& m = w.models.at(model).description;
  if (!chooses_cuts(m)) return "";  // they are those of whole layers
  text_table t{{{"pieces", alignment::right}, {"smallest memory", alignment::right}, {"", alignment::left}}};
  bool any = false;
  for (const std::uint32_t pieces : {1U, 2U, 3U, 4U, 6U, 8U}) {
    const auto n = need_of(m.name, pieces, changed);
    if (!n) continue;
    any = any || pieces > 1;
    t.add({std::to_string(pieces), to_string(n->memory), n->fits ? "fits" : ""});
  }
  if (!any) return "";
  return fmt::format(
      "\nwith {} in pieces, as all models that can be divided so (model.parallel.pieces, which decides "
      "results):\n{}",
      m.name, t.to_string());
}

}  // namespace hydra::apps
