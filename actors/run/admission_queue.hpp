#pragma once
// Models that want memory, in the order in which they are admitted: of the highest priority first, among equals the
// models of the run by their ids, then those that were added. One is prepared at a time, and none overtakes: the first
// one waits until others have given back enough.

#include "actors/protocol/joining.hpp"
#include "actors/protocol/model_description.hpp"
#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra {

struct wanted_admission {
  model_description what;
  std::optional<model_id> known{};  ///< it is a model of the run already
  bool continues = false;           ///< from its newest checkpoint
  join_sink answer{};               ///< may be null
  std::uint64_t place = 0;          ///< set by the queue: in the order of requests
  bool knows_it_waits = false;      ///< set by the queue
};

class admission_queue {
 public:
  void add(wanted_admission w) {
    w.place = ++places_;
    insert(std::move(w));
  }
  bool has(const std::string& name) const {
    const auto same = [&](const wanted_admission* w) { return w->what.name == name; };
    return std::ranges::any_of(in_order(), same);
  }
  bool empty() const noexcept { return waiting_.empty() && !preparing_; }

  /// The one to be prepared now; null if one is being prepared, or if the first one was found too large and no memory
  /// has been given back since. `releases`: how often memory was given back.
  const wanted_admission* begin(std::uint64_t releases) {
    if (waiting_.empty() || preparing_ || abandoned_ ||
        (found_too_large_ == waiting_.front().place && tried_at_ == releases)) {
      return nullptr;
    }
    preparing_ = std::move(waiting_.front());
    waiting_.pop_front();
    tried_at_ = releases;
    return &*preparing_;
  }
  /// None is being prepared, because the first one was found too large.
  bool first_is_too_large() const noexcept {
    return !preparing_ && !abandoned_ && !waiting_.empty() && found_too_large_ == waiting_.front().place;
  }
  /// The one that was being prepared; none if it was removed meanwhile.
  std::optional<wanted_admission> prepared() {
    abandoned_ = false;
    return std::exchange(preparing_, std::nullopt);
  }
  /// Memory was given back since that one was prepared, or tried to be.
  bool is_outdated(std::uint64_t releases) const noexcept { return tried_at_ != releases; }
  /// There was not enough memory for the one that was prepared: it waits again.
  void put_back(wanted_admission w) {
    found_too_large_ = w.place;
    insert(std::move(w));
  }
  /// Who has to wait because the first one was found too large, each once.
  std::vector<join_sink> newly_waiting() {
    std::vector<join_sink> all;
    for (auto& w : waiting_) {
      if (first_is_too_large() && !std::exchange(w.knows_it_waits, true) && w.answer) {
        all.push_back(w.answer);
      }
    }
    return all;
  }

  /// All, the one that is being prepared first.
  std::vector<const wanted_admission*> in_order() const {
    std::vector<const wanted_admission*> all;
    if (preparing_) {
      all.push_back(&*preparing_);
    }
    for (const auto& w : waiting_) {
      all.push_back(&w);
    }
    return all;
  }

  /// What is being prepared for one that is removed is of no use: the next one is prepared after that.
  std::optional<wanted_admission> remove(const std::string& name) {
    if (preparing_ && preparing_->what.name == name) {
      abandoned_ = true;
      return std::exchange(preparing_, std::nullopt);
    }
    const auto found = std::ranges::find_if(waiting_, [&](const auto& w) { return w.what.name == name; });
    if (found == waiting_.end()) {
      return std::nullopt;
    }
    auto removed = std::move(*found);
    waiting_.erase(found);
    return removed;
  }
  std::deque<wanted_admission> take_all() {
    auto all = std::exchange(waiting_, {});
    if (preparing_) {
      abandoned_ = true;
      all.push_front(*std::exchange(preparing_, std::nullopt));
    }
    return all;
  }

 private:
  void insert(wanted_admission w) {
    const auto next = std::ranges::find_if(waiting_, [&](const auto& other) { return rank(w) < rank(other); });
    waiting_.insert(next, std::move(w));
  }
  static std::tuple<double, std::uint32_t, std::uint64_t> rank(const wanted_admission& w) {
    return {-w.what.priority, w.known ? w.known->value : std::numeric_limits<std::uint32_t>::max(), w.place};
  }

  std::deque<wanted_admission> waiting_;
  std::optional<wanted_admission> preparing_;
  bool abandoned_ = false;  ///< the model that is being prepared was removed
  std::uint64_t places_ = 0;
  std::uint64_t tried_at_ = 0;
  std::uint64_t found_too_large_ = 0;  ///< place of the model
};

}  // namespace hydra
