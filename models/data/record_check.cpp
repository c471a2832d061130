#include "models/data/record_check.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace hydra {
namespace {

constexpr std::size_t most_complaints = 3, most_lines = 3;

}  // namespace

void record_check::add(std::string_view text) {
  ++bad_;
  const std::string before = fmt::format("{}{}", file_.string(), before_number());
  if (text.starts_with(before)) text.remove_prefix(before.size());
  const std::size_t end = std::min(text.find(": "), text.size());
  const std::string_view line = text.substr(0, end), what = text.substr(std::min(end + 2, text.size()));
  auto found = std::ranges::find(first_, what, &complaint::what);
  if (found == first_.end()) {
    if (first_.size() == most_complaints) return;
    found = first_.insert(found, {.what = std::string{what}});
  }
  ++found->records;
  if (found->lines.size() < most_lines) found->lines.emplace_back(line);
}

std::string record_check::places(const complaint& of, std::size_t from) const {
  const std::vector<std::string> named(of.lines.begin() + static_cast<std::ptrdiff_t>(from), of.lines.end());
  const std::string all =
      fmt::format("{}{} {}", of_array_ ? "record" : "line", of.records - from == 1 ? "" : "s", fmt::join(named, ", "));
  return of.records == of.lines.size() ? all : fmt::format("{}, ... ({} records)", all, of.records - from);
}

std::vector<std::string> record_check::others(std::vector<std::string> rest) const {
  std::size_t said = first_.front().records;
  for (const complaint& each : first_ | std::views::drop(1)) {
    rest.push_back(fmt::format("{}: {}", places(each), each.what));
    said += each.records;
  }
  if (bad_ > said) rest.emplace_back("...");
  return rest;
}

void record_check::finish() const {
  if (bad_ == 0 || (rule_ == bad_row_rule::leave_out && bad_ < records_)) return;
  const complaint& first = first_.front();
  std::string text = fmt::format("{}{}{}: {}", file_.string(), before_number(), first.lines.front(), first.what);
  if (records_ == 1) refuse(text);
  std::vector<std::string> same;
  if (first.records > 1) same.push_back("the same in " + places(first, 1));
  text += fmt::format(" ({} of {} records cannot be read", bad_, records_);
  if (bad_ > 1) text += fmt::format(": {}", fmt::join(others(std::move(same)), "; "));
  if (bad_ < records_) text += "; bad_rows = \"leave-out\" in [data.NAME] leaves them out";
  refuse(text + ")");
}

std::vector<std::string> record_check::notes() const {
  if (bad_ == 0) return {};
  const complaint& first = first_.front();
  return {fmt::format("{}: {} of {} records cannot be read and {} left out: {}", file_.string(), bad_, records_,
                      bad_ == 1 ? "is" : "are",
                      fmt::join(others({fmt::format("{}: {}", places(first), first.what)}), "; "))};
}

}  // namespace hydra
