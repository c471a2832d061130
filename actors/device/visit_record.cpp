#include "actors/device/visit_record.hpp"

#include <fmt/format.h>

namespace hydra {

std::string visit_record::detail() const {
  return fmt::format("{} {} {} step {}", model->name, to_string(what.way), what.shard.value, what.step.value);
}

}  // namespace hydra
