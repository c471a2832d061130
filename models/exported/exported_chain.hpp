#pragma once
// An exported model as a chain.

#include "models/chain.hpp"
#include "models/data_source.hpp"
#include "models/exported/exported_model.hpp"

#include <memory>
#include <string>

namespace hydra {

/// Starts from the model's values; what it does not train is frozen. The loss is the one that is inside the model, else
/// cross entropy for targets that are classes, and the squared error for numbers. Throws fault_error{bad_input} if
/// samples or targets of the data are not what the model takes, or for calls that cannot run.
chain exported_chain(const std::shared_ptr<const exported_model>& model, const data_source& data);

/// weight_source::identity() of its values.
std::string weights_identity(const exported_model& model);

}  // namespace hydra
