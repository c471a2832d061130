#pragma once
// What an adapter_config.json says about modules: which are adapted, and with what rank and alpha. As PEFT decides it.

#include "models/lora.hpp"
#include "models/weights/model_config.hpp"
#include "models/weights/module_pattern.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Modules by name, or by a regular expression.
struct module_choice {
  std::vector<std::string> names{};
  std::optional<module_pattern> pattern{};

  bool holds(const std::string& module) const;
};

class adapter_targets {
 public:
  /// Reads target_modules, exclude_modules, modules_to_save, layers_to_transform, layers_pattern, rank_pattern and
  /// alpha_pattern. Throws fault_error{bad_input} with file and key.
  explicit adapter_targets(const model_config& config);

  /// `common` with targets, also_train, rank_of and alpha_of. Targets are names as they are in the file where these alone
  /// decide, else full names. Throws fault_error{bad_input} if no module of the model is one, or a pattern cannot be
  /// searched.
  lora_options in(const chain& model, lora_options common) const;

 private:
  /// In the file's order: the first that matches counts.
  using number_list = std::vector<std::pair<module_pattern, double>>;

  static number_list numbers_of(const model_config& config, const char* key);
  bool is_left_out(const std::string& module) const;
  bool is_in_layers(const std::string& module) const;
  bool adapts(const std::string& module) const;
  std::vector<std::string> chosen_in(const chain& model) const;

  std::string file_;
  module_choice targets_, excluded_;
  bool all_linear_ = false;
  std::vector<std::string> also_train_, layer_lists_;
  std::optional<std::vector<std::int64_t>> layers_;
  number_list ranks_, alphas_;
};

}  // namespace hydra
