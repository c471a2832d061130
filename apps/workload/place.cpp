#include "apps/workload/place.hpp"

#include <fmt/format.h>

namespace hydra::apps {

std::string to_string(const place& where) {
  if (!where.source) return "workload";
  if (where.line == 0) return *where.source;
  return fmt::format("{}{}{}", *where.source, *where.source == given_workload ? ", line " : ":", where.line);
}

void refuse(const place& where, std::string_view key, std::string_view text) {
  throw located_error{fault_code::bad_input, fmt::format("{}: {}: {}", to_string(where), key, text)};
}

void refuse_size(const place& where, std::string_view key) {
  throw fault_error{fault_code::does_not_fit,
                    fmt::format("{}: {}: this needs more memory than the host has; use smaller values",
                                to_string(where), key)};
}

}  // namespace hydra::apps
