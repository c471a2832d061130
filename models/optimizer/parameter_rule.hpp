#pragma once
// What an update rule is for one parameter: its options, and how much state it has.

#include "models/optimizer/parameter_form.hpp"
#include "models/optimizer/update_rule.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace hydra {

/// The rule that steps a parameter: adamw instead of adamw8bit for small ones, and instead of muon for
/// vectors and in the first and the last layer.
update_kind kind_for(update_kind kind, const parameter_form& form) noexcept;

/// Those of one parameter, by its name in a checkpoint (of a tied copy: its owner's) and its form: its rule, with the
/// learning rate and the weight decay of its group. They have no groups and decay all.
update_options options_of(const update_options& options, const std::string& name, const parameter_form& form);

/// Values of state that the rule of a parameter (kind_for) has in each moment buffer.
std::array<std::size_t, 2> moment_values(update_kind own, const parameter_form& form) noexcept;

/// Bytes that one step of it allocates for its time; 0 for rules that can step it in parts.
std::size_t update_scratch(update_kind own, const parameter_form& form) noexcept;

}  // namespace hydra
