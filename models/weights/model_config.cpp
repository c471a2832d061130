#include "models/weights/model_config.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <mutex>
#include <utility>

namespace hydra {

using nlohmann::json;

namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& file, std::string_view why) {
  refuse(fmt::format("{} {}", file.string(), why));
}

json parse(const std::filesystem::path& file, std::string_view text) try {
  return parse_json(text);
} catch (const fault_error& e) {
  refuse_file(file, e.what_happened().text);
} catch (const json::parse_error& e) {
  refuse_file(file, fmt::format("holds no JSON object: byte {}: {}", e.byte, json_complaint(e)));
} catch (const json::exception& e) {
  refuse_file(file, fmt::format("holds no JSON object: {}", json_complaint(e)));
}

}  // namespace

/// Of a file: the full names of keys that were asked for, and of tables and lists that were opened.
class model_config::question_list {
 public:
  void add(std::string name) {
    const std::lock_guard lock{mutex_};
    asked_.insert(std::move(name));
  }
  void open(std::string name) {
    const std::lock_guard lock{mutex_};
    opened_.insert(std::move(name));
  }

  /// Appends the names of the table's keys that were not asked for.
  void find_others(const json& table, const std::string& prefix, std::vector<std::string>& names) const {
    const std::lock_guard lock{mutex_};
    others_in(table, prefix, names);
  }

 private:
  void others_in(const json& table, const std::string& prefix, std::vector<std::string>& names) const {
    for (const auto& [key, value] : table.items()) {
      const std::string name = prefix + key;
      if (!asked_.contains(name) && !value.is_null()) names.push_back(name);
      if (!opened_.contains(name)) continue;
      if (value.is_object()) others_in(value, name + ".", names);
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
        others_in(value[i], fmt::format("{}[{}].", name, i), names);
    }
  }

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> asked_;
  std::set<std::string, std::less<>> opened_;
};

model_config::model_config(std::string file, json table, std::string prefix)
    : file_(std::move(file)),
      table_(std::make_shared<const json>(std::move(table))),
      prefix_(std::move(prefix)),
      asked_(std::make_shared<question_list>()) {}

model_config::model_config(const model_config& outer, json table, std::string prefix)
    : file_(outer.file_),
      table_(std::make_shared<const json>(std::move(table))),
      prefix_(std::move(prefix)),
      asked_(outer.asked_) {}

model_config model_config::read(const std::filesystem::path& file) {
  json parsed = parse(file, read_text(file, text_kind::settings));
  if (!parsed.is_object()) refuse_file(file, "holds no JSON object");
  return {file.string(), std::move(parsed)};
}

const json* model_config::find(std::string_view key) const {
  asked_->add(fmt::format("{}{}", prefix_, key));
  const auto found = table_->find(key);
  return found == table_->end() || found->is_null() ? nullptr : &*found;
}

bool model_config::has(std::string_view key) const { return find(key) != nullptr; }

void model_config::refuse(std::string_view key, std::string_view why) const {
  hydra::refuse(fmt::format("{}: {}: {}", file_, shown(prefix_ + std::string{key}), why));
}

void model_config::require(std::string_view key, const json& only) const {
  const json* const value = find(key);
  if (value && *value != only)
    refuse(key, fmt::format("{} is not supported; Hydra knows only {}", shown_json(*value), shown_json(only)));
}

std::int64_t model_config::integer_of(std::string_view key, const json& value) const {
  if (!value.is_number_integer()) refuse(key, fmt::format("{} is not an integer", shown_json(value)));
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
    refuse(key, fmt::format("{} is not below 2^63", shown_json(value)));
  return value.get<std::int64_t>();
}

std::int64_t model_config::integer(std::string_view key) const {
  const json* const value = find(key);
  if (!value) refuse(key, "is missing; an integer is needed");
  return integer_of(key, *value);
}

std::int64_t model_config::integer(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

double model_config::real(std::string_view key) const {
  const json* const value = find(key);
  if (!value) refuse(key, "is missing; a number is needed");
  if (!value->is_number()) refuse(key, fmt::format("{} is not a number", shown_json(*value)));
  return value->get<double>();
}

double model_config::real(std::string_view key, double fallback) const { return has(key) ? real(key) : fallback; }

bool model_config::boolean(std::string_view key, bool fallback) const {
  const json* const value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) refuse(key, fmt::format("{} is neither true nor false", shown_json(*value)));
  return value->get<bool>();
}

std::string model_config::text(std::string_view key, std::string fallback) const {
  const json* const value = find(key);
  if (!value) return fallback;
  if (!value->is_string()) refuse(key, fmt::format("{} is not text", shown_json(*value)));
  return value->get<std::string>();
}

std::vector<std::int64_t> model_config::integers(std::string_view key) const {
  const json* const value = find(key);
  if (!value || !value->is_array()) refuse(key, "is not a list of integers");
  std::vector<std::int64_t> result;
  for (const json& each : *value) result.push_back(integer_of(key, each));
  return result;
}

std::vector<double> model_config::reals(std::string_view key) const {
  const json* const value = find(key);
  if (!value || !value->is_array()) refuse(key, "is not a list of numbers");
  std::vector<double> result;
  for (const json& each : *value) {
    if (!each.is_number()) refuse(key, fmt::format("{} is not a number", shown_json(each)));
    result.push_back(each.get<double>());
  }
  return result;
}

std::optional<model_config> model_config::table(std::string_view key) const {
  const json* const value = find(key);
  if (!value) return std::nullopt;
  asked_->open(fmt::format("{}{}", prefix_, key));
  return nested(key, *value);
}

model_config model_config::nested(std::string_view name, const json& value) const {
  if (!value.is_object()) refuse(name, fmt::format("{} is not a table", shown_json(value)));
  return {*this, value, fmt::format("{}{}.", prefix_, name)};
}

std::vector<model_config> model_config::tables(std::string_view key) const {
  const json* const value = find(key);
  if (!value) return {};
  if (!value->is_array()) refuse(key, fmt::format("{} is not a list", shown_json(*value)));
  asked_->open(fmt::format("{}{}", prefix_, key));
  std::vector<model_config> all;
  for (std::size_t i = 0; i < value->size(); ++i) all.push_back(nested(fmt::format("{}[{}]", key, i), (*value)[i]));
  return all;
}

void model_config::ignore(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) find(key);
}

std::vector<std::string> model_config::unread() const {
  std::vector<std::string> names;
  asked_->find_others(*table_, prefix_, names);
  return names;
}

std::vector<std::string> key_notes(const model_config& config, const std::set<std::string_view>& without_effect) {
  std::vector<std::string> notes;
  for (const std::string& name : config.unread()) {
    if (without_effect.contains(name)) continue;
    const auto found = config.content().find(name);  // not one of a nested table
    if (found != config.content().end() && found->is_structured() && found->empty()) continue;
    notes.push_back(fmt::format("{}: Hydra does not use {}{}", config.file(), shown(name),
                                found == config.content().end() ? "" : " = " + shown_json(*found)));
  }
  return notes;
}

}  // namespace hydra
