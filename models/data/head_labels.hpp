#pragma once
// Which labels of data are the classes of a head that was trained.

#include "models/data/class_names.hpp"

#include <string>
#include <vector>

namespace hydra {

/// The labels of classes 0, 1, ... where the user names none (class_names). As transformers, which takes an integer for
/// the number of a class. Throws fault_error{bad_input} with file, line, and what the user can do.
std::vector<class_label> class_order(const label_census& found, const std::vector<std::string>& head);

/// Label i is the number i, of as many as the head has.
bool are_numbers_of(const std::vector<std::string>& head, const std::vector<class_label>& labels);

}  // namespace hydra
