#include "models/hub/model_config.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

namespace hydra {

using nlohmann::json;

model_config::model_config(std::string file, json table, std::string prefix)
    : file_(std::move(file)), table_(std::move(table)), prefix_(std::move(prefix)) {}

model_config model_config::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw fault_error{fault_code::bad_input, fmt::format("{} does not exist or cannot be read", file.string())};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object())
    throw fault_error{fault_code::bad_input, fmt::format("{} holds no JSON object", file.string())};
  return {file.string(), std::move(parsed)};
}

const json* model_config::find(std::string_view key) const {
  const auto found = table_.find(key);
  return found == table_.end() || found->is_null() ? nullptr : &*found;
}

bool model_config::has(std::string_view key) const { return find(key) != nullptr; }

void model_config::refuse(std::string_view key, std::string_view why) const {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}{}: {}", file_, prefix_, key, why)};
}

void model_config::require(std::string_view key, const json& only) const {
  const json* const value = find(key);
  if (value && *value != only)
    refuse(key, fmt::format("{} is written there; Hydra knows only {}", value->dump(), only.dump()));
}

std::int64_t model_config::integer(std::string_view key) const {
  const json* const value = find(key);
  if (!value) refuse(key, "is missing; an integer is needed");
  if (!value->is_number_integer()) refuse(key, fmt::format("{} is no integer", value->dump()));
  return value->get<std::int64_t>();
}

std::int64_t model_config::integer(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

double model_config::real(std::string_view key) const {
  const json* const value = find(key);
  if (!value) refuse(key, "is missing; a number is needed");
  if (!value->is_number()) refuse(key, fmt::format("{} is no number", value->dump()));
  return value->get<double>();
}

double model_config::real(std::string_view key, double fallback) const { return has(key) ? real(key) : fallback; }

bool model_config::boolean(std::string_view key, bool fallback) const {
  const json* const value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) refuse(key, fmt::format("{} is neither true nor false", value->dump()));
  return value->get<bool>();
}

std::string model_config::text(std::string_view key, std::string fallback) const {
  const json* const value = find(key);
  if (!value) return fallback;
  if (!value->is_string()) refuse(key, fmt::format("{} is no text", value->dump()));
  return value->get<std::string>();
}

std::vector<std::int64_t> model_config::integers(std::string_view key) const {
  const json* const value = find(key);
  if (!value || !value->is_array()) refuse(key, "is no list of integers");
  std::vector<std::int64_t> result;
  for (const json& each : *value) {
    if (!each.is_number_integer()) refuse(key, fmt::format("{} is no integer", each.dump()));
    result.push_back(each.get<std::int64_t>());
  }
  return result;
}

std::optional<model_config> model_config::table(std::string_view key) const {
  const json* const value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_object()) refuse(key, fmt::format("{} is no table", value->dump()));
  return model_config{file_, *value, fmt::format("{}{}.", prefix_, key)};
}

}  // namespace hydra
