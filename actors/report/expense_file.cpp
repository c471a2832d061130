#include "actors/report/expense_file.hpp"

#include "actors/report/expense_json.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <exception>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;

json json_of(const expense& e) {
  json j{{"device_s", seconds(e.time)}};
  add_expense(j, e);
  return j;
}

json json_of(const shared_expense& s) {
  auto j = json_of(s.all);
  j["models"] = json::object();
  for (const auto& [model, spent] : s.models) {
    j["models"][model] = json_of(spent);
  }
  return j;
}

shared_expense shared_from(const json& j) {
  shared_expense s{.all = expense_from(j)};
  for (const auto& [model, spent] : j.at("models").items()) {
    s.models[model] = expense_from(spent);
  }
  return s;
}

shared_expense read_from(const std::filesystem::path& file) try {
  const auto j = parse_ordered_json(read_text(file, text_kind::record));
  return shared_from(j.at("before")) + shared_from(j.at("last"));
} catch (const json::exception& e) {
  throw fault_error(fault_code::bad_input, fmt::format("{}: damaged: {}", file.string(), json_complaint(e)));
}

}  // namespace

expense shared_expense::of(const std::string& model) const {
  const auto found = models.find(model);
  return found == models.end() ? expense{} : found->second;
}

shared_expense operator+(const shared_expense& a, const shared_expense& b) {
  auto sum = a;
  sum.all = a.all + b.all;
  for (const auto& [model, spent] : b.models) {
    sum.models[model] = a.of(model) + spent;
  }
  return sum;
}

expense_file::expense_file(const std::filesystem::path& folder, bool goes_on) : file_(folder / "expenses.json") {
  if (goes_on && kind_of(file_) != std::filesystem::file_type::not_found) {
    before_ = read_from(file_);
  }
}

void expense_file::write(const shared_expense& now) noexcept {
  try {
    write_atomically(file_, json_text(json{{"before", json_of(before_)}, {"last", json_of(now)}}, 2) + "\n");
    note_.clear();
  } catch (const std::exception& e) {
    note_ = e.what();
  }
}

}  // namespace hydra
