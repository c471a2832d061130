#pragma once
// The operations of LibTorch that an exported graph may call.

#include "models/exported/graph.hpp"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <vector>

namespace hydra {

/// The operation of a call in the namespace aten, with a schema that its arguments and results fit. Throws
/// fault_error{bad_input}: there is no such operation; a form of an argument or a number of results that does not suit;
/// one that draws random numbers, unless it is told not to, or that reads files.
c10::OperatorHandle operator_of(const graph_call& call);

/// Throws fault_error{bad_input} unless the call is of one of Hydra's own operations, with such arguments.
void check_own(const graph_call& call);

/// Throws fault_error{bad_input} for a layer with a call that writes into an input, a parameter or a constant, or into
/// a view of one. `operations`: of each call, none for those that are Hydra's.
void check_writes(const graph_layer& layer, const std::vector<std::optional<c10::OperatorHandle>>& operations);

}  // namespace hydra
