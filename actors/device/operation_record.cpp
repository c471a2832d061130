#include "actors/device/operation_record.hpp"

namespace hydra {

queue_kind queue_of(operation_kind kind) noexcept {
  switch (kind) {
    case operation_kind::compute:
    case operation_kind::step:
      return queue_kind::compute;
    case operation_kind::promote:
    case operation_kind::promote_base:
    case operation_kind::promote_input:
      return queue_kind::h2d;
    default:
      return queue_kind::d2h;
  }
}

}  // namespace hydra
