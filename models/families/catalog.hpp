#pragma once
// The model families that a workload can name: a table of factories (adding one = one file + one line).

#include "models/chain.hpp"
#include "models/data_source.hpp"
#include "models/lora.hpp"
#include "runtime/base/option.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct chain_description;

/// What the planner chooses for layers in pieces.
struct open_division {
  bool pieces = false;        ///< the fewest that fit
  bool side_by_side = false;  ///< if the simulated run is shorter so
  std::function<chain_description(std::uint32_t pieces, bool side_by_side)> with{};  ///< null: nothing

  bool any() const noexcept { return pieces || side_by_side; }
};

/// How to build a model's chain once its data are known. Created by cnn(...), gpt2(...), mlp(...), describe_chain(...),
/// or by the user for a chain of their own (family = any name, build = a function). A run that resumes builds the same.
struct chain_description {
  std::string family;
  std::int64_t context = 0;  ///< tokens per sample of a language model; 0 for others
  /// called once, in plan() or run(); if it joins a run, on another thread
  std::function<chain(const data_source&)> build;
  sample_form form = sample_form::causal;  ///< the form of text samples
  /// [channels, height, width] of the images it requires; empty: as in the data
  std::vector<std::int64_t> image{};
  std::filesystem::path checkpoint{};      ///< folder of the checkpoint that it starts from; empty: none
  std::vector<std::string> inputs{};       ///< names of the tensors of a sample; empty: there is one
  std::vector<std::string> labels{};  ///< what the classes of its head are called; empty: a new one, or no classifier
  std::vector<std::string> tokens{};       ///< that the tokenizer gets where it lacks them
  std::filesystem::path tokenizer{};       ///< folder of the tokenizer, where it is not the checkpoint's: an adapter's
  std::filesystem::path adapter{};         ///< folder of the stored adapter that it continues; empty: none
  std::uint32_t pieces = 1;   ///< of its layers, and whether they are side by side: with_pieces()
  bool side_by_side = false;  ///< as it is; ...
  open_division open{};       ///< ... what of it the planner chooses

  sample_request wants() const { return {context, form, image, inputs, checkpoint, labels, tokens, tokenizer}; }
};

struct family {
  std::string name;
  std::string help;
  std::vector<option> options;
  std::function<chain_description(const option_values&)> make;   ///< from complete options
};

/// All families of this build, by name.
const std::vector<family>& families();

/// The chain of a family with these options, completed. Throws fault_error{bad_input}: of complete(), or an impossible
/// value.
chain_description describe_chain(const std::string& family, const option_values& options);

/// The same chain with another loss than the family's own: with_loss(mlp({...}), mse()). The others do to each chain
/// what the functions named behind them do.
chain_description with_loss(chain_description description, std::shared_ptr<const loss> objective);
chain_description with_frozen(chain_description description, freezing parameters);    ///< chain::freeze
chain_description with_base(chain_description description, base_format format);       ///< chain::store_base
chain_description with_loss_chunk(chain_description description, std::int64_t rows);  ///< chain::chunk_loss
chain_description with_adapter(chain_description description, lora_options adapter);  ///< adapt()
/// chain::divide. Throws fault_error{bad_input} when it is built: it has an adapter.
chain_description with_pieces(chain_description description, std::uint32_t pieces, bool side_by_side = false);
/// The same, with what is not given left to the planner; 1 piece, and in turn, until it has chosen.
chain_description with_open_pieces(chain_description description, std::optional<std::uint32_t> pieces,
                                   std::optional<bool> side_by_side);
/// One of these as chosen so far, which may be chosen again.
chain_description with_choice(const chain_description& open, std::uint32_t pieces, bool side_by_side);

}  // namespace hydra
