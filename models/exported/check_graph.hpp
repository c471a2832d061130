#pragma once
// Whether the fields of an exported graph agree.

#include "models/exported/graph.hpp"

#include <cstdint>

namespace hydra {

/// Names of values are made once in a layer and before they are read, layers fit together, ties and statistics are as
/// they must be, sites of dropout are unique. Whether operations exist, and take such arguments, is not checked here.
/// Throws fault_error{bad_input} that names layer and call.
void check_graph(const exported_graph& g);

/// For micro-batches of `samples` samples: no size below 0, dense strides, bytes that fit into 63 bits. Throws
/// fault_error{bad_input}.
void check_sizes(const exported_graph& g, std::int64_t samples);

}  // namespace hydra
