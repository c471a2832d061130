#pragma once
// C, the bytes that a unit needs to compute: reserved, or passed on by the unit before.

#include "runtime/device/ticket.hpp"
#include "runtime/memory/byte_budget.hpp"

#include <vector>

namespace hydra {

class visit_record;
struct pipeline_state;

/// Divided by when they are free again.
struct working_bytes {
  std::vector<reservation> until_computed;
  std::vector<reservation> until_written_back;
  std::vector<ticket> after;             ///< until then the unit before uses the bytes that it has passed on

  bool empty() const noexcept { return until_computed.empty() && until_written_back.empty(); }
};

/// Gives `v` its C. Free bytes come first. If there are not enough, the last unit that still has bytes passes on those
/// that it needs only to compute, and if that is not enough its write-back bytes, too; `v` then starts after the
/// operations that use them. False, and nothing is taken: not yet.
bool claim_working_bytes(visit_record& v, pipeline_state& state);

}  // namespace hydra
