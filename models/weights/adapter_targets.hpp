#pragma once
// What an adapter_config.json says about modules: which are adapted, and with what rank and alpha. As PEFT decides it.

#include "models/lora.hpp"
#include "models/weights/model_config.hpp"
#include "models/weights/module_pattern.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// For what Hydra cannot do with an adapter.
inline constexpr const char* merge_by_peft =
    "merge the adapter into its base by peft (merge_and_unload) and start from that, or train another one";

/// Modules by name, or by a regular expression.
struct module_choice {
  std::vector<std::string> names{};
  std::optional<module_pattern> pattern{};

  bool holds(const std::string& module) const;
};

/// A rank from 1 to lora_options::largest_rank. Throws fault_error{bad_input} with file and key for others.
std::int64_t read_rank(const model_config& config, std::string_view key);

class adapter_targets {
 public:
  /// Reads target_modules, exclude_modules, modules_to_save, layers_to_transform, layers_pattern, rank_pattern and
  /// alpha_pattern. Throws fault_error{bad_input} with file and key.
  explicit adapter_targets(const model_config& config);

  /// Whether PEFT adapts a module of this full name, if it is of a kind that "all-linear" leaves out, as embeddings
  /// are.
  bool names(const std::string& module) const;

  /// `common` with the rank and the alpha of a module.
  lora_options of_module(const std::string& module, lora_options common) const;

  /// `common` with targets, also_train, rank_of and alpha_of, but for `embeddings`, to which the adapter adds
  /// otherwise. Names are as they are in the file where these alone decide as Hydra reads them, else full ones. Throws
  /// fault_error{bad_input} with file and key if no other module of the model is a target, or one is that Hydra cannot
  /// adapt, or a pattern cannot be searched.
  lora_options in(const chain& model, lora_options common, const std::vector<std::string>& embeddings) const;

  /// Sentences about entries of rank_pattern and alpha_pattern that match none of the adapted modules, by full name.
  std::vector<std::string> unused_patterns(const std::vector<std::string>& adapted) const;

 private:
  struct module_number {
    std::string name;  ///< as in the file
    module_pattern pattern;
    double number = 0;
  };
  /// In the file's order: the first that matches counts.
  using number_list = std::vector<module_number>;

  static number_list numbers_of(const model_config& config, const char* key,
                                double (*read)(const model_config& table, std::string_view name));
  static std::optional<double> first_of(const number_list& numbers, const std::string& module);
  bool is_left_out(const std::string& module) const;
  bool is_in_layers(const std::string& module) const;
  bool adapts(const std::string& module) const;
  std::vector<std::string> chosen_in(const chain& model) const;
  void require_adaptable(const chain& model, const std::vector<std::string>& chosen,
                         const std::vector<std::string>& saved, const std::vector<std::string>& embeddings) const;
  [[noreturn]] void refuse_key(const char* key, const std::string& why) const;

  std::string file_;
  module_choice targets_, excluded_;
  bool all_linear_ = false;
  std::vector<std::string> also_train_;
  std::vector<module_pattern> layer_lists_;  ///< the first that matches finds the number
  std::optional<std::vector<std::int64_t>> layers_;
  number_list ranks_, alphas_;
};

}  // namespace hydra
