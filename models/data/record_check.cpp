#include "models/data/record_check.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

constexpr std::size_t most_places = 3;

}  // namespace

void record_check::add(std::string complaint) {
  const std::string before = file_.string() + ":";
  if (++bad_ > most_places) return;
  first_.push_back(complaint.starts_with(before) ? complaint.substr(before.size()) : std::move(complaint));
}

/// "line 4: it is empty, line 9: ..."
std::string record_check::places(std::size_t from) const {
  std::string all;
  for (std::size_t i = from; i < first_.size(); ++i) all += fmt::format("{}line {}", i > from ? "; " : "", first_[i]);
  return all + (bad_ > first_.size() ? "; ..." : "");
}

void record_check::finish() const {
  if (bad_ == 0 || (rule_ == bad_row_rule::leave_out && bad_ < records_)) return;
  std::string text = fmt::format("{}:{}", file_.string(), first_.front());
  if (records_ > 1) text += fmt::format(" ({} of {} records cannot be read", bad_, records_);
  if (bad_ > 1) text += ": " + places(1);
  if (bad_ < records_) text += "; bad_rows = \"leave-out\" in [data.NAME] leaves them out";
  refuse(records_ > 1 ? text + ")" : text);
}

std::vector<std::string> record_check::notes() const {
  if (bad_ == 0) return {};
  return {fmt::format("{}: {} of {} records cannot be read and {} left out: {}", file_.string(), bad_, records_,
                      bad_ == 1 ? "is" : "are", places(0))};
}

}  // namespace hydra
