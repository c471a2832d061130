#pragma once
// Labels of operations, for spans and faults.

#include "runtime/base/block_id.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>

namespace hydra {

class visit_record;

class operation_labels {
 public:
  /// Without details only the name of the message is there.
  explicit operation_labels(bool details) : details_(details) {}

  operation_label of_block(const char* name, const visit_record& v, const block_id& id) const;
  operation_label of_micro_batch(const char* name, const visit_record& v, std::size_t k) const;
  operation_label of_step(const char* name, const visit_record& v) const;

 private:
  bool details_;
};

}  // namespace hydra
