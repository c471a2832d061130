#pragma once
// The tokenizer of a data set goes with the model that was trained on it.

#include "apps/workload/value.hpp"
#include "runtime/fwd.hpp"

namespace hydra::apps {

/// Adds copies of the files of the tokenizer that `data`, the table of a [data.NAME], names, under the names that Hugging
/// Face's libraries look for, and of its settings where they lie beside them. Nothing for bytes or no tokenizer.
/// Throws fault_error{io} if one cannot be read.
void copy_tokenizer_files(durable_folder& into, const value_table& data);

}  // namespace hydra::apps
