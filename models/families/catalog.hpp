#pragma once
// The model families that a workload can name: a table of factories (adding one = one file + one line).

#include "models/chain.hpp"
#include "models/data_source.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

using option_value = std::variant<bool, std::int64_t, double, std::string>;

/// How to build a model's chain once its data are known. Created by cnn(...), gpt2(...), mlp(...), describe_chain(...),
/// or by the user for a chain of their own (family = any name, build = a function).
struct chain_description {
  std::string family;
  std::int64_t context = 0;  ///< tokens per sample of a language model; 0 for others
  std::function<chain(const data_source&)> build;
  sample_form form = sample_form::causal;  ///< the form of text samples
  /// [channels, height, width] of the images it requires; empty: as in the data
  std::vector<std::int64_t> image{};
  std::filesystem::path checkpoint{};      ///< folder of the checkpoint that it starts from; empty: none

  sample_request wants() const { return {context, form, image, checkpoint}; }
};

/// One option of a family, for `hydra families` and for checking workload files.
struct family_option {
  std::string name;
  option_value fallback;  ///< default; its type is the option's type
  bool required = false;
  std::string help;
};

struct family {
  std::string name;
  std::string help;
  std::vector<family_option> options;
  std::function<chain_description(const std::map<std::string, option_value>&)> make;
};

/// All families of this build, by name.
const std::vector<family>& families();

/// Checks options against the family (unknown name -> nearest named; wrong type; missing; impossible value) and
/// describes the chain. Throws fault_error{bad_input}. An integer is accepted where a real number is expected.
chain_description describe_chain(const std::string& family, const std::map<std::string, option_value>& options);

/// The same chain with another loss than the family's own: with_loss(mlp({...}), mse()).
chain_description with_loss(chain_description description, std::shared_ptr<const loss> objective);

}  // namespace hydra
