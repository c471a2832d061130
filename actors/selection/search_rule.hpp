#pragma once
// Rules of a search: pure objects that are told the scores of trials and answer which trials go on. Standard library
// only.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// An evaluation of a trial.
struct trial_result {
  std::string trial;
  std::uint32_t steps = 0;  ///< that the trial has trained
  double score = 0;         ///< lower is better; one that is not finite is worse than all others

  bool operator==(const trial_result&) const = default;
};

enum class trial_verdict : std::uint8_t {
  wait,  ///< until other trials have arrived
  go_on,
  stop,
};

/// A key of a model and its value as TOML.
struct key_value {
  std::string key;  ///< dotted path in [[model]]
  std::string value;

  bool operator==(const key_value&) const = default;
};

/// A trial that begins with the state of another one, about which the same answer decides that it goes on after as many
/// steps: it waits there until the copy has begun.
struct trial_copy {
  std::string trial;            ///< its name
  std::string of;               ///< whose state; that one goes on
  std::uint32_t steps = 0;      ///< after so many of its steps; those of the copy count from there
  std::vector<key_value> keys;  ///< all that the search varies

  bool operator==(const trial_copy&) const = default;
};

/// What follows for a trial from its result after `steps`.
struct trial_decision {
  std::string trial;
  std::uint32_t steps = 0;
  trial_verdict verdict = trial_verdict::wait;
  std::uint32_t rank = 0;            ///< of the result, 1 = best; 0: not compared with others
  std::uint32_t ranked = 0;          ///< among so many results
  std::optional<trial_copy> copy{};  ///< takes the place of a trial that stops

  bool operator==(const trial_decision&) const = default;
};

/// Events come one after the other. A result that is reported again, as after a resume, is answered as before.
class search_rule {
 public:
  virtual ~search_rule() = default;

  /// "halving: 32 trials; 1 of 3 goes on after 50, 150 and 450 of 1000 steps".
  virtual std::string describe() const = 0;

  /// Whether a model that the settings do not name is a trial, too.
  virtual bool has(const std::string& /*model*/) const { return false; }

  /// Whether trials may be stopped for copies of others. Then the run has to save its models.
  virtual bool copies() const { return false; }

  /// The steps after which a trial that has trained `steps` is compared next. 0: it trains to its end, or that is not
  /// known. Nodes of a cluster share the work up to there: what comes behind may not be done at all.
  virtual std::uint32_t compares_after(const std::string& /*trial*/, std::uint32_t /*steps*/) const { return 0; }

  /// The decision about the trial of the result comes first, then those about trials that have waited. Throws
  /// fault_error{bad_input} for a trial that the search does not have.
  virtual std::vector<trial_decision> result(const trial_result& arrived) = 0;

  /// A trial has ended before its whole length, not because of a decision: it failed, or a person has stopped it.
  /// Others need not wait for it; returned are the decisions about those that have. Throws as result().
  virtual std::vector<trial_decision> ended(const std::string& trial) = 0;
};

}  // namespace hydra
