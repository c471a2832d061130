#include "actors/device/operation_labels.hpp"

#include "actors/device/visit_record.hpp"

#include <fmt/format.h>

#include <string>

namespace hydra {

operation_label operation_labels::of_block(const char* name, const visit_record& v, const block_id& id) const {
  return {name, details_ ? fmt::format("{} of {}", to_string(id.kind), v.detail()) : std::string{}};
}

operation_label operation_labels::of_micro_batch(const char* name, const visit_record& v, std::size_t k) const {
  return {name, details_ ? fmt::format("{} micro-batch {}", v.detail(), v.index_of(k).value) : std::string{}};
}

operation_label operation_labels::of_step(const char* name, const visit_record& v) const {
  return {name, details_ ? "step of " + v.detail() : std::string{}};
}

}  // namespace hydra
