#pragma once
// LoRA: a model whose parameters are frozen, and to whose linear maps trained maps of low rank are added (Hu et al.
// 2021).

#include "models/chain.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Which biases are trained beside the maps of low rank.
enum class trained_biases : std::uint8_t { none, adapted, all };  ///< `adapted`: those of adapted modules

/// Modules are named as Hugging Face's PEFT does: "q_proj" stands for all modules of that name, "0.mlp.up_proj" for
/// those whose full name ends so. A module has parameters "MODULE.weight", "MODULE.bias".
struct lora_options {
  static constexpr const char* all_linear = "all-linear";  ///< all linear maps but the last one of the chain
  static constexpr std::int64_t largest_rank = 65536;       ///< of what files may ask for

  std::int64_t rank = 0;
  double alpha = 0;          ///< 0: 2 * rank
  double dropout = 0;        ///< of what the maps of low rank are applied to
  bool rank_scaled = false;  ///< scale alpha / sqrt(rank) instead of alpha / rank (Kalajdzievski 2023)
  bool magnitudes = false;  ///< DoRA (low_rank_term::magnitude); these begin as a stored adapter has them
  std::vector<std::string> targets{all_linear};
  std::vector<std::string> also_train{};  ///< modules that are trained in full, such as a new head
  trained_biases biases = trained_biases::none;
  std::map<std::string, std::int64_t> rank_of{};  ///< of modules, by full name, for which it is another
  std::map<std::string, double> alpha_of{};       ///< the same

  double full_alpha() const noexcept { return alpha == 0 ? 2 * static_cast<double>(rank) : alpha; }
  std::int64_t rank_in(const std::string& module) const;
  double scale_in(const std::string& module) const;  ///< of what is added to a module's weight, given its full name

  friend bool operator==(const lora_options&, const lora_options&) = default;
};

/// "MODULE.lora_A.weight" (`which` = 'A' or 'B') for the weight "MODULE.weight".
std::string lora_name(std::string_view weight, char which);

/// "MODULE.lora_magnitude_vector" for the weight "MODULE.weight".
std::string magnitude_name(std::string_view weight);

/// The chain with adapted layers, all else but `also_train` and `biases` frozen. Throws fault_error{bad_input}: an
/// impossible number, a module that is none of the model's or no linear map (with the nearest name), or one whose
/// weight is tied; the model is adapted or has frozen parameters already.
chain adapt(chain model, const lora_options& options);

/// As PEFT decides it: the full name of a module, or its end after a dot.
bool names_module(std::string_view name, std::string_view module);

/// Also the modules inside it.
bool names_module_around(std::string_view name, std::string_view module);

/// The full names of a chain's modules that have parameters of their own, in its order.
std::vector<std::string> modules_of(const chain& model);

/// Of those the ones that "all-linear" adapts.
std::vector<std::string> all_linear_modules(const chain& model);

/// Of those the ones that can be targets: linear maps with a weight of their own, as one that `also_train` parts from
/// another.
std::vector<std::string> adaptable_modules(const chain& model, const std::vector<std::string>& also_train);

/// Without the names of modules that the chain does not have: PEFT stores some that only other models have.
lora_options of_modules_in(const chain& model, lora_options options);

/// Those of an adapted chain; null: it is not adapted.
const lora_options* adapter_of(const chain& model);

/// The chain without its adapter; nothing of it is frozen. Its weights stay what they are, with the values of the base.
chain without_adapter(chain model);

/// The full names in a checkpoint of the modules that are adapted, in the chain's order.
std::vector<std::string> adapted_modules(const chain& model);

}  // namespace hydra
