#pragma once
// Labels without a file.

#include "models/data/class_names.hpp"

#include <vector>

namespace hydra::test {

/// Those of the lines 1, 2, ... of a file "f".
inline label_census labels_in_lines(const std::vector<class_label>& labels) {
  label_census found;
  for (const class_label& label : labels) found.try_emplace(label, label_site{"f", found.size() + 1});
  return found;
}

}  // namespace hydra::test
