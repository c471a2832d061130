#pragma once
// What the samples of data are, for models that take others.

#include "models/data_source.hpp"

#include <cstdint>
#include <string_view>

namespace hydra {

enum class sample_kind : std::uint8_t { texts, images, numbers };

/// Throws fault_error{bad_input} with the key to change if the samples are known to be of another kind; what else is
/// wrong with them is for the caller to say. `who` is the family.
void require_kind(std::string_view who, const data_source& data, sample_kind wanted);

}  // namespace hydra
