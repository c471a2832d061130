#pragma once
// The whole parameters of a chain whose layers were divided.

#include "models/layer.hpp"
#include "models/weight_source.hpp"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// The slices of each parameter, by its whole name, in their order.
std::map<std::string, std::vector<parameter_spec>> slices_in(const std::vector<parameter_spec>& divided);

/// Puts the whole parameter together of values that `read` gives for each slice. False: it has given none.
bool join_slices(const std::vector<parameter_spec>& slices, std::span<float> whole,
                 const std::function<bool(const parameter_spec&, std::span<float>)>& read);

/// `divided`: all parameters of the chain, which `weights` has. Not null.
std::shared_ptr<const weight_source> joined_weights(const std::vector<parameter_spec>& divided,
                                                    std::shared_ptr<const weight_source> weights);

}  // namespace hydra
