#pragma once
// What others need beside the weights: the tokenizer of the data, and the settings of the checkpoint that a model began as.

#include "apps/workload/value.hpp"
#include "runtime/fwd.hpp"

namespace hydra::apps {

/// Adds copies of the files of the tokenizer that `data`, the table of a [data.NAME], names, under the names that Hugging
/// Face's libraries look for, and of its settings where they lie beside them. Nothing for bytes or no tokenizer.
/// Throws fault_error{io} if one cannot be read, {bad_input} if one is missing.
void copy_tokenizer_files(durable_folder& into, const value_table& data);

/// Adds copies of generation_config.json, chat_template.jinja and preprocessor_config.json, where they lie in the folder that
/// `chain`, the table of a model's chain, begins from. Throws fault_error{io} if one cannot be read.
void copy_checkpoint_files(durable_folder& into, const value_table& chain);

}  // namespace hydra::apps
