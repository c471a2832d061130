#pragma once
// Keys of an expense in JSON.

#include "actors/protocol/expense.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>

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

/// What add_expense() has added, and "device_s". Throws nlohmann::json::exception.
inline expense expense_from(const nlohmann::ordered_json& object) {
  expense e{.time = std::chrono::round<std::chrono::milliseconds>(from_seconds(object.at("device_s").get<double>()))};
  if (object.contains("cost")) {
    e.cost = money_of(object["cost"].get<double>());
  }
  if (object.contains("joules")) {
    e.joules = object["joules"].get<std::int64_t>();
  }
  return e;
}

}  // namespace hydra
