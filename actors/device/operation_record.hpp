#pragma once
// What the pipeline knows of an operation that it has submitted.

#include "runtime/base/bytes.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/ticket.hpp"

#include <cstddef>
#include <cstdint>

namespace hydra {

class visit_record;

enum class operation_kind : std::uint8_t {
  promote,
  promote_base,
  promote_input,
  compute,
  step,
  demote_output,
  demote_gradients,
  demote_loss,
  demote_parameters,
  demote_state,
  copy_back
};

/// The queue on which operations of a kind run.
queue_kind queue_of(operation_kind kind) noexcept;

struct operation_record {
  visit_record* owner = nullptr;
  operation_kind kind = operation_kind::compute;
  std::size_t batch = 0;         ///< micro-batch of the visit
  ticket lease{};                ///< of a copy in
  byte_count bytes{};            ///< these two are copied from the operation
  operation_label label{};
};

}  // namespace hydra
