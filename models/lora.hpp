#pragma once
// LoRA: a model whose parameters are frozen, and to whose linear maps trained maps of low rank are added (Hu et al. 2021).

#include "models/chain.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Modules are named as Hugging Face's PEFT does: "q_proj" stands for all modules of that name, "0.mlp.up_proj" for those
/// whose full name ends so. A module has parameters "MODULE.weight", "MODULE.bias".
struct lora_options {
  static constexpr const char* all_linear = "all-linear";  ///< all linear maps but the last one of the chain

  std::int64_t rank = 0;
  double alpha = 0;          ///< 0: 2 * rank
  double dropout = 0;        ///< of what the maps of low rank are applied to
  bool rank_scaled = false;  ///< scale alpha / sqrt(rank) instead of alpha / rank (Kalajdzievski 2023)
  std::vector<std::string> targets{all_linear};
  std::vector<std::string> also_train{};  ///< modules that are trained in full, such as a new head

  double full_alpha() const noexcept { return alpha == 0 ? 2 * static_cast<double>(rank) : alpha; }
  double scale() const noexcept;  ///< of what is added

  friend bool operator==(const lora_options&, const lora_options&) = default;
};

/// "MODULE.lora_A.weight" (`which` = 'A' or 'B') for the weight "MODULE.weight".
std::string lora_name(std::string_view weight, char which);

/// The chain with adapted layers, all else but `also_train` frozen. Throws fault_error{bad_input}: an impossible number, a
/// module that is none of the model's or no linear map (with the nearest name), or one whose weight is tied; the model is
/// adapted or has frozen parameters already.
chain adapt(chain model, const lora_options& options);

/// Without the names of modules that the chain does not have: PEFT stores some that only other models have.
lora_options of_modules_in(const chain& model, lora_options options);

/// Those of an adapted chain; null: it is not adapted.
const lora_options* adapter_of(const chain& model);

/// The chain without its adapter; nothing of it is frozen. Its weights stay what they are, with the values of the base.
chain without_adapter(chain model);

/// The full names in a checkpoint of the modules that are adapted, in the chain's order.
std::vector<std::string> adapted_modules(const chain& model);

}  // namespace hydra
