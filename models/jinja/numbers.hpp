#pragma once
// Python's arithmetic of values.

#include "models/jinja/nodes.hpp"

namespace hydra::jinja {

/// Of sum, difference, product, quotient, whole_quotient, remainder and power; texts and lists have sums and multiples.
/// Throws complaint for other kinds, division by zero, and integers that do not fit into 64 bits.
value computed(operation does, const value& a, const value& b, budget& limits);
value negated(const value& v);

}  // namespace hydra::jinja
