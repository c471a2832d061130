#pragma once
// A policy that asks somebody else and does not wait for the answer. Standard library only.

#include "actors/policy/decision_copy.hpp"
#include "actors/policy/policy.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hydra {

struct advice_question {
  std::uint64_t request = 0;
  decision_copy shown;
};

/// Answers with advice that has come, if it is a candidate still; else asks, at most one question per device at a time,
/// and is pending. An answer "nothing" holds until something happens; what has happened since its question counts, too.
class advised_policy final : public policy {
 public:
  explicit advised_policy(std::string name) : name_{std::move(name)} {}

  /// Where questions go. Before the first one.
  void connect(std::function<void(const advice_question&)> ask) { ask_ = std::move(ask); }
  /// An event, or a choice of this policy: who has answered "nothing" is asked again.
  void happened() noexcept { ++events_; }
  /// An answer; dropped if that question is not open.
  void advised(std::uint64_t request, device_id device, const std::optional<unit>& choice);

  std::string name() const override { return name_; }
  /// Throws fault_error{internal} when `most_dropped` answers in a row named units that were not asked about.
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  bool pending() const override { return waiting_since().has_value(); }
  void device_left(device_id device) override { open_.erase(device); }

  /// When the oldest question was asked that has no answer.
  std::optional<time_point> waiting_since() const;
  /// Answers that named no candidate.
  std::uint64_t dropped() const noexcept { return dropped_; }

  static constexpr int most_dropped = 100;

 private:
  struct exchange {
    std::uint64_t request = 0;
    time_point asked{};
    bool answered = false;
    std::uint64_t event = 0;     ///< the last one before it was asked
    std::optional<unit> choice{};
    std::vector<unit> offered{};  ///< the candidates then
  };
  void ask(const device_state& device, std::span<const candidate> candidates, const policy_view& view);
  /// Counts a useless one. A unit that another device was faster to get is no nonsense.
  void drop(const exchange& e);

  std::string name_;
  std::function<void(const advice_question&)> ask_;
  std::map<device_id, exchange> open_;
  std::uint64_t requests_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t dropped_ = 0;
  int nonsense_in_a_row_ = 0;
};

}  // namespace hydra
