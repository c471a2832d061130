#pragma once
// A model: an ordered list of layers plus a loss.

#include "models/layer.hpp"
#include "models/loss.hpp"
#include "models/tensor_spec.hpp"
#include "models/weight_source.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// A layer with its place in the names of the model: parameter "ln_1.weight" of prefix "h.0." is "h.0.ln_1.weight".
struct chain_layer {
  std::string prefix;
  std::shared_ptr<const layer> body;
};

/// A chain as a Hugging Face checkpoint.
struct hub_form {
  std::string config{};  ///< text of config.json; empty: there is no such form
  std::function<std::string(const std::string&)> stored_name{};  ///< of a parameter, by its full name; null: the same
  std::string preprocessor{};                                    ///< text of preprocessor_config.json; empty: none
};

/// Builder and value: immutable once handed to a session.
class chain {
 public:
  /// `sample_input`: what one sample looks like for the first layer (without the batch dimension).
  chain(std::string family, tensor_spec sample_input, std::shared_ptr<const loss> objective);

  /// Appends a layer; returns *this for chaining.
  chain& add(std::string prefix, std::shared_ptr<const layer> body);
  /// Replaces the loss; returns *this for chaining.
  chain& minimise(std::shared_ptr<const loss> objective);

  /// Parameters begin with these values instead of random ones; returns *this for chaining.
  chain& begin_with(std::shared_ptr<const weight_source> weights);
  /// How it is exported; returns *this for chaining.
  chain& publish_as(hub_form form);
  /// The format of its parameters and boundaries on devices, and of the gradients that leave them: fp32 unless told. Returns
  /// *this for chaining.
  chain& compute_in(precision numbers, precision gradients = precision::fp32);

  const std::string& family() const noexcept { return family_; }
  const tensor_spec& sample_input() const noexcept { return sample_input_; }
  const loss& objective() const noexcept { return *objective_; }
  const weight_source* weights() const noexcept { return weights_.get(); }  ///< null: random
  const hub_form& hub() const noexcept { return hub_; }
  precision numbers() const noexcept { return numbers_; }
  precision gradients() const noexcept { return gradients_; }
  std::size_t size() const noexcept { return layers_.size(); }
  const chain_layer& at(std::size_t i) const { return layers_.at(i); }

  /// Parameters of layer i with full names.
  std::vector<parameter_spec> parameters(std::size_t i) const;
  /// Number of trained values; ties count once.
  std::int64_t parameter_count() const;

  /// Output of every layer for micro-batches of `samples` samples: bf16 where layers speak of f32, if the chain computes in
  /// it. Throws fault_error{bad_input} naming the layer.
  std::vector<tensor_spec> outputs(std::int64_t samples) const;

  /// Layer i on an input in the chain's format, or on the data's: real samples are rounded first. Contiguous, so that a
  /// boundary does not change what the next layer's kernel sees. Throws fault_error{bad_input} for a layer whose output is
  /// not in the format of its parameters.
  at::Tensor forward(std::size_t i, std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const;

  /// Checks names unique, ties resolvable (owner exists before or after, equal shape, not itself a replica), shapes
  /// consistent, at least one layer, no running averages in bf16, no gradients narrower than the parameters. Throws
  /// fault_error{bad_input}.
  void validate() const;

 private:
  [[noreturn]] void refuse_output(std::size_t i, const at::Tensor& output) const;

  std::string family_;
  tensor_spec sample_input_;
  std::shared_ptr<const loss> objective_;
  std::vector<chain_layer> layers_;
  std::shared_ptr<const weight_source> weights_;
  hub_form hub_;
  precision numbers_ = precision::fp32;
  precision gradients_ = precision::fp32;
};

}  // namespace hydra
