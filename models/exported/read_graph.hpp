#pragma once
// Reads graph.json of an exported model.

#include "models/exported/graph.hpp"

#include <string_view>

namespace hydra {

/// Checks the form of each field, not how they agree (check_graph). Throws fault_error{bad_input} that names the field,
/// layer and call.
exported_graph read_graph(std::string_view text);

}  // namespace hydra
