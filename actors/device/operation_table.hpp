#pragma once
// The operations of a device that have been submitted and not completed, and those that have failed.

#include "runtime/base/bytes.hpp"
#include "runtime/base/work_unit.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace hydra {

class visit_record;

enum class operation_kind : std::uint8_t { promote, compute, step, demote, copy_back };

/// The queue on which operations of a kind run.
queue_kind queue_of(operation_kind kind) noexcept;

struct operation_record {
  visit_record* owner = nullptr;
  operation_kind kind = operation_kind::compute;
  block_use use{};               ///< what is copied
  std::size_t batch = 0;         ///< micro-batch of the visit, or part of what is copied
  ticket lease{};                ///< of a copy in
  byte_count bytes{};            ///< these two are copied from the operation
  operation_label label{};
};

class operation_table {
 public:
  /// `machine` outlives the table.
  explicit operation_table(device& machine) : machine_(machine) {}

  /// Submits to the queue of `record.kind`.
  ticket submit(operation op, std::span<const ticket> after, operation_record record);
  /// Removes an operation that has completed; none if the table does not have it.
  std::optional<operation_record> take(ticket completed);

  bool done(ticket t) const { return !pending_.contains(t.value); }
  bool all_done(std::span<const ticket> tickets) const;
  bool empty() const noexcept { return pending_.empty(); }

  /// The contents of the blocks that a failed operation fills are never used.
  void set_failed(ticket t) { failed_.insert(t.value); }
  bool has_failed(ticket t) const { return failed_.contains(t.value); }
  bool any_failed() const noexcept { return !failed_.empty(); }
  /// All blocks of failed operations have been released.
  void forget_failed() { failed_.clear(); }

 private:
  device& machine_;
  std::unordered_map<std::uint64_t, operation_record> pending_;
  std::unordered_set<std::uint64_t> failed_;
};

}  // namespace hydra
