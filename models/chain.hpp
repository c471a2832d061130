#pragma once
// A model: an ordered list of layers plus a loss.

#include "models/frozen/freezing.hpp"
#include "models/fwd.hpp"
#include "models/layer.hpp"
#include "models/loss.hpp"
#include "models/optimizer/parameter_group.hpp"
#include "models/tensor_spec.hpp"
#include "models/weight_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// A layer and its prefix in the names of the model: parameter "ln_1.weight" with prefix "h.0." is "h.0.ln_1.weight".
struct chain_layer {
  std::string prefix;
  std::shared_ptr<const layer> body;
  std::uint32_t number = 0;  ///< its place in the chain before layers were divided; pieces of a layer have the same one
  chain_place place{};
};

/// How a chain is stored as a checkpoint: one of Hugging Face's, or the state_dict() of a module of PyTorch.
struct hub_form {
  std::string config{};  ///< text of config.json; empty: there is no such file
  /// name of a parameter, by its full name; null: the same
  std::function<std::string(const std::string&)> stored_name{};
  std::string preprocessor{};                                    ///< text of preprocessor_config.json; empty: none
  /// all names of a parameter in a state_dict(), by its full name; null: that of stored_name alone
  std::function<std::vector<std::string>(const std::string&)> state_names{};
  /// what else a state_dict() has; null: this is none
  std::function<std::vector<named_tensor>()> rest_of_state{};

  bool exists() const { return !config.empty() || rest_of_state; }
};

/// Builder and value: immutable once passed to a session.
class chain {
 public:
  /// `sample_input`: shape and type of one sample for the first layer (without the batch dimension).
  chain(std::string family, tensor_spec sample_input, std::shared_ptr<const loss> objective);

  /// Appends a layer; returns *this for chaining.
  chain& add(std::string prefix, std::shared_ptr<const layer> body);
  /// Replaces the body of layer i, whose prefix stays; returns *this for chaining.
  chain& replace(std::size_t i, std::shared_ptr<const layer> body);
  /// Replaces the loss; returns *this for chaining.
  chain& minimise(std::shared_ptr<const loss> objective);

  /// Parameters start with these values instead of random ones; returns *this for chaining.
  chain& begin_with(std::shared_ptr<const weight_source> weights);
  /// Parameters that it matches keep their initial values: they have no gradients. A tied copy follows its owner.
  /// Returns *this for chaining.
  chain& freeze(freezing parameters);
  /// What freeze() has frozen is trained again. It keeps the values that it has in the base. Returns *this for
  /// chaining.
  chain& unfreeze();
  /// A parameter that repeats another one's values (tied) is its own, and starts as weights() has it. Returns *this for
  /// chaining.
  chain& untie(const std::string& parameter);
  /// How what is frozen is stored; the default is as it is computed with. Returns *this for chaining.
  chain& store_base(base_format format);
  /// The last layer and the loss are computed `rows` rows (of language models: tokens) at a time, so that the output is
  /// never whole in memory; 0: all at once. Returns *this for chaining.
  chain& chunk_loss(std::int64_t rows);
  /// Each layer that can be divided becomes so many pieces, layers whose outputs are added in their order. Bits depend
  /// on the number, and not on whether one adds to what the piece before it passes on, or, side by side, each leaves
  /// what it adds (chain_place). The head and the embedding of a causal language model are divided by tokens if its
  /// loss can be of pieces; its samples then have targets beside their inputs (targets_beside_inputs.hpp). Throws
  /// fault_error{bad_input}: no layer can be divided, or one not so. Returns *this for chaining.
  chain& divide(std::uint32_t pieces, bool side_by_side = false);
  /// The same, with pieces that add to what the one before them passes on.
  chain in_turn() const;
  /// Layers that were divided are whole again; weights() has their whole parameters. Returns *this for chaining.
  chain& join();
  /// Sets how it is exported; returns *this for chaining.
  chain& publish_as(hub_form form);
  /// Something that the user should know about it: what of its checkpoint is not used. Returns *this for chaining.
  chain& note(std::string what);
  /// The format of its parameters and boundaries on devices, and of the gradients that leave them; the default is fp32.
  /// Returns *this for chaining.
  chain& compute_in(precision numbers, precision gradients = precision::fp32);

  const std::string& family() const noexcept { return family_; }
  const tensor_spec& sample_input() const noexcept { return sample_input_; }
  const loss& objective() const noexcept { return *objective_; }
  const std::shared_ptr<const weight_source>& weights() const noexcept { return weights_; }  ///< null: random
  const hub_form& hub() const noexcept { return hub_; }
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// The name in a checkpoint of a parameter, by its full name; of a slice, that of the whole one.
  std::string stored_name(const std::string& name) const;
  base_format base() const noexcept { return base_; }
  std::int64_t loss_chunk() const noexcept { return loss_chunk_; }
  std::uint32_t pieces() const noexcept { return into_.pieces; }  ///< of a layer that was divided
  bool side_by_side() const noexcept { return into_.side_by_side; }
  /// Beside its inputs; then how many tokens there are; else 0.
  std::int64_t tokens_of_targets() const;
  precision numbers() const noexcept { return numbers_; }
  precision gradients() const noexcept { return gradients_; }
  std::size_t size() const noexcept { return layers_.size(); }
  const chain_layer& at(std::size_t i) const { return layers_.at(i); }
  std::vector<chain_place> places() const;  ///< of all layers; empty: none is side by side with others
  bool depends_on_gradients() const;                                                ///< one of its layers does
  /// Neither the first nor the last layer, or a piece of one.
  bool is_hidden(std::size_t i) const { return at(i).number > 0 && at(i).number < layers_.back().number; }

  /// Parameters of layer i with full names; frozen ones are marked.
  std::vector<parameter_spec> parameters(std::size_t i) const;
  std::vector<parameter_spec> parameters() const;  ///< of all layers, in their order
  /// That of the layer, and which of its parameters are frozen: equal for layers that behave and cost the same.
  std::string signature(std::size_t i) const;
  /// Number of values that are not running averages; ties count once.
  std::int64_t parameter_count() const;
  /// How many of them are frozen.
  std::int64_t frozen_count() const;
  /// True if it was asked to freeze parameters, or a layer has some that are never trained.
  bool has_frozen() const noexcept { return has_fixed_ || (!frozen_.empty() && !unfrozen_); }

  /// True if a layer has parameters that are never trained.
  bool has_fixed() const noexcept { return has_fixed_; }

  /// The parameters that are stepped: without tied copies, running averages and frozen ones.
  std::vector<trained_parameter> trained_parameters() const;

  /// Input and output of every layer for micro-batches of `samples` samples: bf16 instead of the layers' f32 if the
  /// chain computes in bf16. Throws fault_error{bad_input} naming the layer.
  std::vector<tensor_spec> inputs(std::int64_t samples) const;
  std::vector<tensor_spec> outputs(std::int64_t samples) const;

  /// Layer i on an input in the chain's format, or on the data's: samples of real numbers are rounded first, bits are
  /// not. The input is made contiguous, so that a boundary does not change what the next layer's kernel gets. Throws
  /// fault_error{bad_input} for a layer whose output is not in the format of its parameters.
  at::Tensor forward(std::size_t i, std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const;

  /// Checks that names are unique, ties can be resolved (the owner exists before or after, has equal shape, and is not
  /// itself a tied copy), shapes are consistent, there is at least one layer, no running averages in bf16 or beside
  /// frozen parameters, no gradients narrower than the parameters, that each pattern of freeze() matches a parameter,
  /// that they freeze one, which its weights have, that one is left to train, that something is stored in the format of
  /// the base, and that its last layer is row-wise if the loss is computed in chunks. Throws fault_error{bad_input}.
  void validate() const;

 private:
  struct layer_specs {
    std::vector<tensor_spec> inputs{}, outputs{};  ///< as the layers have them
  };
  layer_specs specs(std::int64_t samples) const;
  std::vector<tensor_spec> in_own_format(std::vector<tensor_spec> specs) const;
  [[noreturn]] void refuse_output(std::size_t i, const at::Tensor& output) const;
  bool is_in_base(const parameter_spec& p) const;
  base_format format_of(const parameter_spec& p, std::size_t layer) const;
  void check_origins() const;
  void check_frozen() const;
  void check_loss_chunk() const;

  std::string family_;
  tensor_spec sample_input_;
  std::shared_ptr<const loss> objective_;
  std::vector<chain_layer> layers_;
  std::shared_ptr<const weight_source> weights_;
  hub_form hub_;
  std::vector<std::string> notes_;
  freezing frozen_;
  bool unfrozen_ = false;
  std::set<std::string> untied_;
  bool has_fixed_ = false;
  base_format base_ = base_format::as_computed;
  std::int64_t loss_chunk_ = 0;
  division into_{};
  std::shared_ptr<const chain> whole_;  ///< as it was before it was divided; null: it is not
  precision numbers_ = precision::fp32;
  precision gradients_ = precision::fp32;
};

}  // namespace hydra
