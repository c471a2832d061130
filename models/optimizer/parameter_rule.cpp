#include "models/optimizer/parameter_rule.hpp"

#include "models/optimizer/adafactor_update.hpp"
#include "models/optimizer/moment_block.hpp"
#include "models/optimizer/muon_update.hpp"

namespace hydra {

update_kind kind_for(update_kind kind, const parameter_form& form) noexcept {
  const bool small = kind == update_kind::adamw8bit && form.elements() < least_in_blocks;
  const bool other = kind == update_kind::muon && !(form.hidden && form.shape.size() >= 2);
  return small || other ? update_kind::adamw : kind;
}

update_options options_of(const update_options& options, const std::string& name, const parameter_form& form) {
  update_options own = options;
  own.kind = kind_for(options.kind, form);
  if (own.kind == update_kind::adamw) own.learning_rate = options.adamw_learning_rate.value_or(options.learning_rate);
  own.groups.clear();
  own.decay = decay_scope::all;
  if (options.decay == decay_scope::matrices && form.shape.size() < 2) own.weight_decay = 0;
  const parameter_group* const group = group_of(options.groups, name);
  if (!group) return own;
  own.learning_rate = group->learning_rate.value_or(own.learning_rate);
  own.weight_decay = group->weight_decay.value_or(own.weight_decay);
  return own;
}

std::array<std::size_t, 2> moment_values(update_kind own, const parameter_form& form) noexcept {
  const std::size_t n = form.elements();
  if (own == update_kind::adafactor && form.shape.size() >= 2) {
    const matrix_size matrix = matrix_size_of(form);
    return {matrix.rows, matrix.columns};
  }
  const bool two = own == update_kind::adamw || own == update_kind::adamw8bit;
  return {n, two ? n : 0};
}

std::size_t update_scratch(update_kind own, const parameter_form& form) noexcept {
  if (own == update_kind::muon) return muon_scratch(matrix_size_of(form));
  return own == update_kind::adafactor ? adafactor_scratch(matrix_size_of(form)) : 0;
}

}  // namespace hydra
