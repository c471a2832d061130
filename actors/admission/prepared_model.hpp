#pragma once
// From a user's description to a model that can be planned: data opened, chain built, layers measured.

#include "actors/admission/slow_preparation.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/protocol/model_entry.hpp"
#include "models/chain.hpp"
#include "partition/plan/plan_file.hpp"
#include "partition/profile/pilot.hpp"
#include "runtime/base/log.hpp"
#include "runtime/device/device.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// For which shards memory is reserved to step them on devices, if rates decide: none, those that fit into what the cut
/// leaves, or at least the first one.
enum class stepping_space : std::uint8_t { none, left, made };

struct prepared_model {
  std::shared_ptr<const chain> model;
  std::shared_ptr<const chain_profile> measured;
  std::string profile_key;                       ///< of it, in the plan's profiles
  std::shared_ptr<const chain_profile> profile;  ///< the same, with the layer at which the model's replicas meet
  /// The same, for each stepping_space: where memory is reserved to step shards on devices.
  std::array<std::shared_ptr<const chain_profile>, 3> profile_for{};
  cut_rule cuts;
  update_rates update;  ///< of its optimizer on the host
  stepping_terms stepping{};
  model_data data;
  std::uint32_t steps = 0;
  std::uint32_t evaluation = 0;   ///< micro-batches of an evaluation
  std::string identity{};         ///< identity_of() it
  std::vector<std::string> base{};   ///< of its plan_request
  std::vector<std::string> notes{};  ///< for the user: what of its files and data is not used
  double remaining_scale = 1;     ///< of its cuts on the run's devices; 1 until they are known
};

/// Appends those that are not there yet.
void add_notes(std::vector<std::string>& notes, const std::vector<std::string>& more);

/// That the data have fewer samples for training than a batch; of packed records also how many there are, and what to
/// set.
std::string too_few_samples(const data_source& source, std::uint32_t batch);

/// Rates of update rules; rules count as equal if they do the same arithmetic.
template <class Rate>
using rate_list = std::vector<std::pair<update_options, Rate>>;
using known_rates = rate_list<element_rate>;

/// A profile with a term of the planner: models that share a profile share this one, too. The planner identifies equal
/// models by the pointer.
template <class Term>
using profile_variants =
    std::map<std::pair<std::shared_ptr<const chain_profile>, Term>, std::shared_ptr<const chain_profile>>;

/// What models are prepared for. `setting`: of the pilot, and of the profiles that are `known`.
struct preparer_setup {
  std::uint64_t seed = 0;
  std::string setting;
  number_formats numbers{};              ///< of the devices
  profile_set known{};
  stepping_terms stepping{};             ///< without measured rates
  known_rates device_updates{};          ///< rates of devices that are known already
  bool share = true;                     ///< frozen parameters with other models
  byte_count host{};                     ///< that the run may use; none: it is not asked whether a model can fit
  std::size_t devices = 1;               ///< of the run
  std::shared_ptr<spdlog::logger> log{};  ///< of what takes long; may be null
  duration patience = long_preparation;  ///< a line says what takes longer
};

/// Measures each distinct chain and update rule once: models of a grid share their profile. A profile that a saved plan
/// has is not measured again.
class model_preparer {
 public:
  /// Called when something has to be measured; the pilot outlives this object.
  using pilot_source = std::function<pilot&()>;
  model_preparer(preparer_setup setup, pilot_source measures)
      : setup_(std::move(setup)), measures_(std::move(measures)), notice_(setup_.log, setup_.patience) {}

  /// Opens data and builds the chain; nothing is measured. Throws fault_error{bad_input} naming the model and what does
  /// not fit together, {does_not_fit} for a model that memory cannot hold however it is cut; what the user's own code
  /// throws, with the model's name.
  prepared_model opened(const model_description& m);
  /// Throws as above. A measuring_error for want of memory does not name the model.
  void measure(prepared_model& p, const model_description& m);
  /// Time spent measuring.
  duration pilot_time() const noexcept { return pilot_time_; }
  const known_rates& device_updates() const noexcept { return setup_.device_updates; }

 private:
  prepared_model open(const model_description& m);
  void find_costs(prepared_model& p, const model_description& m);
  void find_profile(prepared_model& p, const model_description& m);
  template <class Rate, class Measure>
  Rate rate_of(const update_options& rule, rate_list<Rate>& known, Measure measured);
  update_rates update_of(const update_options& rule);
  void find_stepping(prepared_model& p, const model_description& m);
  bool find_rates(stepping_terms& terms, const update_options& rule);
  cut_rule cuts_of(const model_description& m, std::size_t layers);
  const saved_plan& plan_in(const std::filesystem::path& file);

  preparer_setup setup_;  ///< with what has been measured since
  pilot_source measures_;
  slow_preparation notice_;
  std::map<std::filesystem::path, saved_plan> plans_;
  rate_list<update_rates> updates_;
  std::optional<byte_rate> slowest_link_;
  profile_variants<device_stepping> stepping_profiles_;
  profile_variants<std::size_t> meeting_profiles_;
  duration pilot_time_{};
};

/// A prepared model as the planner sees it; both outlive the request.
plan_request request_for(const model_description& m, const prepared_model& p, const cut_rule& cuts,
                         stepping_space space = stepping_space::none);

/// Precision and gradients of all devices: they decide results. Throws fault_error{bad_input} naming them if they
/// differ, and for gradients narrower than the parameters.
number_formats common_formats(std::span<const device_info> machines);

/// Optimizer steps that the model is trained for; 0 if it is only evaluated. Throws fault_error{bad_input} if there are
/// fewer samples than a batch has, or more steps than can be counted.
std::uint32_t steps_on(const model_description& m, const data_source& source);

/// Whole micro-batches of an evaluation; 0 if there are no validation data and no evaluation was requested. Throws
/// fault_error{bad_input} if there are fewer than requested. `masks`: loss::masks().
std::uint32_t evaluation_micro_batches(const model_description& m, const data_source& source, bool masks = true);

/// Throws fault_error{bad_input} for impossible values, naming model and key.
void validate(const model_description& m);
/// Throws fault_error{bad_input} if the best state shall be kept in a run that keeps no checkpoints.
void check_keep_best(const model_description& m, std::uint32_t kept_checkpoints);

}  // namespace hydra
