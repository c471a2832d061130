#pragma once
// What commands call a part of data.

#include "models/data_source.hpp"

namespace hydra::apps {

inline const char* part_name(split part) { return part == split::train ? "train" : "validation"; }

}  // namespace hydra::apps
