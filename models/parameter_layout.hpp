#pragma once
// The position of each parameter in the flat buffers of a range of layers (numerics contract, rules 1 and 2).
//
// A range of layers has two buffers of parameters: the base has the frozen ones, the other one those that are stepped.

#include "models/chain.hpp"
#include "models/optimizer/parameter_form.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// One parameter in its buffer. Offsets and sizes in elements; the offset of a frozen one in bytes of the base. Offsets
/// are multiples of 256 bytes on the device: GPU libraries choose kernels by alignment up to that, so a weight has the
/// same kernels, and bits, wherever the model is cut.
struct placed_parameter {
  std::string name;  ///< full
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;
  std::size_t elements = 0;
  std::size_t layer = 0;  ///< index in the chain
  initial_value initial;
  std::string tied_to;           ///< full name of the owner, empty if this is not a tied copy
  std::optional<parameter_slice> slice{};
  double averaging = 0;          ///< of a running average; 0: the parameter is trained
  bool frozen = false;           ///< it is in the base
  base_format stored = base_format::as_computed;  ///< there
  bool hidden = false;           ///< in a layer between the first and the last one
  std::size_t state_offset = 0;  ///< in the moment buffers; tied copies, running averages and frozen ones have none

  bool trained() const noexcept { return tied_to.empty() && averaging == 0 && !frozen; }  ///< with moments
  parameter_form form() const noexcept { return {.shape = shape, .hidden = hidden}; }
};

/// Layout of layers [first, last) of a chain. The same, in elements, for parameters in the chain's format, fp32 masters
/// and gradients; moments leave out tied copies and running averages.
class parameter_layout {
 public:
  parameter_layout(const chain& model, std::size_t first, std::size_t last);

  const std::vector<placed_parameter>& parameters() const noexcept { return parameters_; }
  std::size_t elements() const noexcept { return elements_; }              ///< padded, without the base
  std::size_t state_elements() const noexcept { return state_elements_; }  ///< of one moment buffer, padded
  precision numbers() const noexcept { return numbers_; }
  element type() const noexcept { return element_of(numbers_); }  ///< of parameters on a device
  byte_count bytes() const noexcept { return byte_count{elements_ * sizeof(float)}; }  ///< of masters and gradients
  /// of parameters on a device
  byte_count device_bytes() const noexcept { return byte_count{elements_ * width_of(type())}; }
  byte_count base_bytes() const noexcept { return byte_count{base_bytes_}; }  ///< as they are stored, padded

  /// Views of layer `layer`'s parameters into a flat buffer of elements() values; those of frozen ones are undefined.
  std::vector<at::Tensor> views(const at::Tensor& flat, std::size_t layer) const;

  /// Fills `flat` (elements() floats) with the chain's weights, or initial values, including padding and tied copies (a
  /// tied copy gets its owner's values, computed from the owner's name and `owner initialiser`, in whichever range the
  /// owner is).
  void initialise(std::span<float> flat, const chain& model, std::uint64_t seed) const;
  /// The same for the base, of base_bytes(), in the formats that they are stored in.
  void initialise_base(std::span<std::byte> base, const chain& model, std::uint64_t seed) const;

 private:
  std::vector<placed_parameter> parameters_;
  std::size_t elements_ = 0;
  std::size_t base_bytes_ = 0;
  std::size_t state_elements_ = 0;
  precision numbers_;
};

/// Parameters of a backward visit: detached from their buffer, with these tensors as gradients, to which is added.
/// Those whose gradient is undefined (frozen ones) have none.
std::vector<at::Tensor> leaves_of(std::span<const at::Tensor> values, std::span<const at::Tensor> gradients);

/// Fills `values` with the initial values of a parameter that is not a tied copy: the chain's weights or random ones,
/// rounded to the format that it is stored in.
void initialise(std::span<float> values, const parameter_spec& p, const chain& model, std::uint64_t seed);
/// The same with random values that are not rounded.
void initialise_randomly(std::span<float> values, const parameter_spec& p, std::uint64_t seed);

}  // namespace hydra
