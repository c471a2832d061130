#pragma once
// The tensors of a Hugging Face checkpoint as the parameters of a chain.

#include "models/chain.hpp"
#include "models/weights/hub_tensors.hpp"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Whether a classifier, and another head that the checkpoint does not have (or has in another shape), is initialised
/// randomly.
enum class hub_head : std::uint8_t { stored, fresh };

/// What each parameter of a chain is in a checkpoint.
struct matched_tensors {
  std::map<std::string, const hub_tensor*, std::less<>> places;  ///< by the parameter's full name; without tied copies
  std::vector<std::string> untied{};   ///< pairs of tied parameters that are stored with different values: "a and b"
  std::vector<std::string> unused{};   ///< stored names: of heads that the chain does not have, or begins anew
};

/// Fully checked when it is created: a checkpoint is never loaded in part.
class hub_weights final : public weight_source {
 public:
  /// Parameters are mapped by chain::hub().stored_name; tied ones may be stored once or more often. Throws
  /// fault_error{bad_input} with file and tensor: a parameter that is not stored (except those of a fresh head), a
  /// tensor of another shape, or neither in 4 bits nor of a type that fp32 holds exactly, a tensor that no parameter
  /// uses (except buffers that follow from the configuration, and heads that the chain does not have). Tied parameters
  /// that are stored with different values have those of the owner; matched().untied names them. `stored_tokens`: rows
  /// of the checkpoint's embedding and head, if the model may have more.
  hub_weights(std::shared_ptr<const hub_tensors> tensors, const chain& model, hub_head head,
              std::int64_t stored_tokens = 0);

  const matched_tensors& matched() const noexcept { return matched_; }

  /// Rows that are not stored are the mean of those that are, and 0 in a bias. Throws fault_error{bad_input} for values
  /// that are not finite, and what hub_tensors::verify() throws.
  bool read(const parameter_spec& p, std::span<float> values) const override;
  bool read_rows(const parameter_spec& p, parameter_slice::range rows, std::span<float> values) const override;
  bool has_values(const parameter_spec& p, const stored_tensor& values) const override;
  std::string identity() const override { return identity_; }
  std::string files() const override { return tensors_->files(); }
  std::string origin(const std::string& parameter) const override;
  bool differs_from_base(const std::string& parameter) const override { return grown_.contains(parameter); }

 private:
  std::shared_ptr<const hub_tensors> tensors_;
  matched_tensors matched_;
  std::set<std::string, std::less<>> grown_;       ///< those that have more rows than are stored
  std::set<std::string, std::less<>> transposed_;  ///< those whose rows are stored as columns
  std::string identity_;
};

}  // namespace hydra
