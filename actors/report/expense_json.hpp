#pragma once
// Keys of an expense in JSON.

#include "actors/protocol/expense.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

/// "cost" and "joules", as far as they are known.
inline void add_expense(nlohmann::ordered_json& object, const expense& e) {
  if (e.cost) {
    object["cost"] = amount_of(*e.cost);
  }
  if (e.joules) {
    object["joules"] = *e.joules;
  }
}

/// The same, and "device_s".
inline nlohmann::ordered_json json_of(const expense& e) {
  nlohmann::ordered_json object{{"device_s", seconds(e.time)}};
  add_expense(object, e);
  return object;
}

}  // namespace hydra
