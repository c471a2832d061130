#include "actors/report/expense_file.hpp"

#include "actors/report/expense_json.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <system_error>

namespace hydra {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr const char* file_name = "expenses.json";

json json_of(const shared_expense& s) {
  auto j = json_of(s.all);
  j["models"] = json::object();
  for (const auto& [model, spent] : s.models) {
    j["models"][model] = json_of(spent);
  }
  return j;
}

json json_of(const expense_gaps& gaps) {
  auto j = json::array();
  if (gaps.cost) {
    j.push_back("cost");
  }
  if (gaps.joules) {
    j.push_back("joules");
  }
  return j;
}

[[noreturn]] void refuse(const std::string& what) { throw fault_error(fault_code::bad_input, what); }

/// Of the smallest unit that is counted; `units` make one of the file's.
std::int64_t amount_in(const json& object, const char* key, double units) {
  constexpr double most = 1e15;  // beyond that the digits of a double would not tell such units apart
  const double amount = object.at(key).get<double>() * units;
  if (!(amount >= 0 && amount <= most)) {
    refuse(fmt::format("{}: {} is given, expected 0 to {:.0e}", key, object.at(key).dump(), most / units));
  }
  return std::llround(amount);
}

expense expense_from(const json& object) {
  expense e{.time = std::chrono::milliseconds{amount_in(object, "device_s", 1e3)}};
  if (object.contains("cost")) {
    e.cost = money{amount_in(object, "cost", 1e4)};
  }
  if (object.contains("joules")) {
    e.joules = amount_in(object, "joules", 1);
  }
  return e;
}

shared_expense shared_from(const json& j) {
  shared_expense s{.all = expense_from(j)};
  expense sum;
  for (const auto& [model, spent] : j.at("models").items()) {
    s.models[model] = expense_from(spent);
    sum = sum + s.models[model];
  }
  if (sum != s.all) {
    refuse("the amounts of the models do not add up to that of the run");
  }
  return s;
}

expense_gaps gaps_from(const json& names) {
  expense_gaps gaps;
  for (const auto& name : names) {
    gaps.cost = gaps.cost || name == "cost";
    gaps.joules = gaps.joules || name == "joules";
  }
  return gaps;
}

recorded_expense recorded_in(const json& j) {
  recorded_expense r{.currency = j.at("currency").get<std::string>()};
  auto before = shared_from(j.at("before"));
  before.gaps = gaps_from(j.at("gaps"));
  r.spent = before + shared_from(j.at("last"));
  return r;
}

/// Without amounts of money, which are in another currency.
shared_expense without_cost(shared_expense s) {
  s.all.cost = std::nullopt;
  for (auto& [model, spent] : s.models) {
    spent.cost = std::nullopt;
  }
  s.gaps.cost = true;
  return s;
}

}  // namespace

std::optional<recorded_expense> read_expenses(const fs::path& folder) {
  const auto file = folder / file_name;
  if (kind_of(file) == fs::file_type::not_found) {
    return std::nullopt;
  }
  const auto damaged = [&file](const std::string& why) {
    return fault_error(fault_code::bad_input, fmt::format("{}: damaged: {}", file.string(), why));
  };
  const auto text = read_text(file, text_kind::record);
  try {
    return recorded_in(parse_ordered_json(text));
  } catch (const json::exception& e) {
    throw damaged(json_complaint(e));
  } catch (const fault_error& e) {
    throw damaged(e.what_happened().text);
  }
}

expense_file::expense_file(const fs::path& folder, const earlier_parts& parts)
    : file_(folder / file_name), currency_(parts.currency) {
  if (!parts.resumed) {
    std::error_code error;
    if (fs::remove(file_, error); error) {
      throw fault_error(fault_code::io, fmt::format("{} cannot be removed: {}", file_.string(), error.message()));
    }
    return;
  }
  try {
    if (const auto earlier = read_expenses(folder)) {
      take(*earlier);
    } else if (parts.has_states) {
      before_.gaps = {.cost = true, .joules = true};
      lost_ = fmt::format("{} is not there", file_.string());
    }
  } catch (const fault_error& e) {
    before_.gaps = {.cost = true, .joules = true};
    set_aside(e.what_happened().text);
  }
}

void expense_file::take(const recorded_expense& earlier) {
  const bool other_money = earlier.spent.all.cost && !earlier.currency.empty() && !currency_.empty() &&
                           earlier.currency != currency_;
  if (other_money) {
    set_aside(fmt::format("{}: {} {} of earlier parts of the run cannot be added to {}", file_.string(),
                          amount_of(*earlier.spent.all.cost), earlier.currency, currency_));
  }
  before_ = other_money ? without_cost(earlier.spent) : earlier.spent;
}

void expense_file::set_aside(const std::string& why) {
  std::error_code error;
  fs::rename(file_, file_.parent_path() / "expenses.old.json", error);
  lost_ = why + (error ? "" : "; it is kept as expenses.old.json");
}

std::vector<std::string> expense_file::notes() const {
  std::vector<std::string> all;
  if (has_written_ && !lost_.empty()) {
    all.push_back(fmt::format("cost and energy are not those of all parts of the run: {}", lost_));
  }
  if (!unwritten_.empty()) {
    all.push_back(fmt::format("cost and energy of the run are not recorded: {}", unwritten_));
  }
  return all;
}

void expense_file::write(const shared_expense& now) noexcept {
  has_written_ = true;
  try {
    const json j{{"currency", currency_},
                 {"gaps", json_of(before_.gaps)},
                 {"before", json_of(before_)},
                 {"last", json_of(now)}};
    write_atomically(file_, json_text(j, 2) + "\n");
    unwritten_.clear();
  } catch (const std::exception& e) {
    unwritten_ = e.what();
  }
}

}  // namespace hydra
