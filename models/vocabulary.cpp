#include "models/vocabulary.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

namespace hydra {

std::int64_t vocabulary_for(std::string_view who, std::int64_t chosen, const data_source& data) {
  if (chosen == 0) return data.classes();
  if (chosen < data.classes())
    throw fault_error{fault_code::bad_input, fmt::format("{}: vocabulary is {}; {} has token ids up to {}", who, chosen,
                                                         data.describe(), data.classes() - 1)};
  return chosen;
}

}  // namespace hydra
