#include "models/data/record_parts.hpp"

#include "models/data/batch_order.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

class records_of_lists final : public record_list {
 public:
  explicit records_of_lists(std::vector<records_ptr> lists) : lists_(std::move(lists)) {
    for (const records_ptr& each : lists_) {
      ends_.push_back(size() + each->size());
      labels_.insert(each->labels().begin(), each->labels().end());
    }
  }

  std::size_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  text_record record(std::size_t index) const override {
    const std::size_t l = list_of(index);
    return lists_[l]->record(index - begin_of(l));
  }
  void require_unchanged() const override {
    for (const records_ptr& each : lists_) each->require_unchanged();
  }
  const label_census& labels() const override { return labels_; }
  const std::filesystem::path& file() const override { return lists_.front()->file(); }
  std::string identity() const override {
    std::string all;
    for (const records_ptr& each : lists_) all += each->identity() + "; ";
    return all;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all;
    for (const records_ptr& each : lists_) std::ranges::copy(each->notes(), std::back_inserter(all));
    return all;
  }
  std::string where(std::size_t index) const override {
    const std::size_t l = list_of(index);
    return lists_[l]->where(index - begin_of(l));
  }

 private:
  std::size_t list_of(std::size_t index) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
  }
  std::size_t begin_of(std::size_t list) const { return list == 0 ? 0 : ends_[list - 1]; }

  std::vector<records_ptr> lists_;
  std::vector<std::size_t> ends_;
  label_census labels_;
};

/// Some records of a list.
class chosen_records final : public record_list {
 public:
  chosen_records(records_ptr all, std::vector<std::size_t> chosen, std::string how)
      : all_(std::move(all)), chosen_(std::move(chosen)), how_(std::move(how)) {}

  std::size_t size() const override { return chosen_.size(); }
  text_record record(std::size_t index) const override { return all_->record(chosen_.at(index)); }
  void require_unchanged() const override { all_->require_unchanged(); }
  const label_census& labels() const override { return all_->labels(); }
  const std::filesystem::path& file() const override { return all_->file(); }
  std::string identity() const override { return all_->identity() + ", " + how_; }
  std::vector<std::string> notes() const override { return all_->notes(); }
  std::string where(std::size_t index) const override { return all_->where(chosen_.at(index)); }

 private:
  records_ptr all_;
  std::vector<std::size_t> chosen_;
  std::string how_;
};

}  // namespace

std::vector<std::string> notes_of(const records_ptr& train, const records_ptr& validation) {
  std::vector<std::string> all = train ? train->notes() : std::vector<std::string>{};
  for (const std::string& note : validation ? validation->notes() : std::vector<std::string>{})
    if (std::ranges::count(all, note) == 0) all.push_back(note);
  return all;
}

records_ptr joined_records(std::vector<records_ptr> lists) {
  if (lists.empty()) return nullptr;
  if (lists.size() == 1) return lists.front();
  return std::make_shared<records_of_lists>(std::move(lists));
}

record_split split_records(const records_ptr& all, double validation_share, std::uint64_t seed) {
  const std::size_t n = all->size();
  if (n < 2) refuse(all->file(), "a part for validation needs two records or more");
  const auto wanted = static_cast<std::size_t>(std::llround(validation_share * static_cast<double>(n)));
  const auto taken = static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(wanted, 1, n - 1));
  const std::vector<std::size_t> order = epoch_permutation(n, seed, 0);
  const auto part = [&](auto begin, auto end, const char* name) {
    std::vector<std::size_t> chosen(begin, end);
    std::ranges::sort(chosen);
    return std::make_shared<chosen_records>(all, std::move(chosen),
                                            fmt::format("{} of {} for validation, seed {}, {}", taken, n, seed, name));
  };
  return {part(order.begin() + taken, order.end(), "the others"), part(order.begin(), order.begin() + taken, "these")};
}

}  // namespace hydra
