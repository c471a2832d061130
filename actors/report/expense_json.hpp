#pragma once
// Keys of an expense in JSON.

#include "actors/protocol/expense.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

/// "cost" and "joules", as far as they are known.
inline void add_expense(nlohmann::ordered_json& object, const expense& e) {
  if (e.cost) {
    object["cost"] = static_cast<double>(e.cost->ten_thousandths) / 1e4;
  }
  if (e.joules) {
    object["joules"] = *e.joules;
  }
}

}  // namespace hydra
