#pragma once
// A policy that sends its decisions to someone else as requests and does not block. Standard library only.

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

/// Returns advice that has arrived, if it is still a candidate; else asks, with at most one request per device at a
/// time, and is pending. The answer "none" holds until the next event; events since the request count, too.
class advised_policy final : public policy {
 public:
  explicit advised_policy(std::string name) : name_{std::move(name)} {}

  /// Sets where requests are sent. To be called before the first decision.
  void connect(std::function<void(const advice_question&)> ask) { ask_ = std::move(ask); }
  /// An event, or a choice of this policy: after an answer "none" it asks again.
  void happened() noexcept { ++events_; }
  /// An answer; dropped if that request is not open.
  void advised(std::uint64_t request, device_id device, const std::optional<unit>& choice);

  std::string name() const override { return name_; }
  /// Throws fault_error{internal} when `most_dropped` answers in a row named units that were not asked about.
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  bool pending() const override { return waiting_since().has_value(); }
  void device_left(device_id device) override { open_.erase(device); }

  /// When this request was sent, if it is open.
  std::optional<time_point> asked(device_id device, std::uint64_t request) const;
  /// When the oldest open request was sent.
  std::optional<time_point> waiting_since() const;
  /// Number of answers that did not name a candidate.
  std::uint64_t dropped() const noexcept { return dropped_; }

  static constexpr int most_dropped = 100;

 private:
  struct exchange {
    std::uint64_t request = 0;
    time_point asked{};
    bool answered = false;
    std::uint64_t event = 0;     ///< the last one before the request
    std::optional<unit> choice{};
    std::vector<unit> offered{};  ///< the candidates then
  };
  void ask(const device_state& device, std::span<const candidate> candidates, const policy_view& view);
  /// Counts a useless answer. A unit that was placed on another device in the meantime does not count.
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
