#pragma once
// Opens each kind of data in files. One function per kind; open_data() throws what they throw.

#include "models/data/data_options.hpp"
#include "models/data_source.hpp"

#include <memory>

namespace hydra {

/// Windows of text, causal or masked. A text has no labels: labelled samples are refused.
std::shared_ptr<const data_source> open_text(const text_files& options, const sample_request& wants);

/// The same for token ids.
std::shared_ptr<const data_source> open_tokens(const token_files& options, const sample_request& wants);

/// Records of text in the requested form.
std::shared_ptr<const data_source> open_jsonl(const jsonl_files& options, const sample_request& wants);

/// Conversations; causal samples only.
std::shared_ptr<const data_source> open_chat(const chat_files& options, const sample_request& wants);

/// Rows of numbers, or records of text.
std::shared_ptr<const data_source> open_csv(const csv_files& options, const sample_request& wants);

/// Images of the size that the options name, else of the size that the model requires, else of that in its checkpoint's
/// image_preparation, which also has the numbers that the options leave out.
std::shared_ptr<const data_source> open_images(const image_folders& options, const sample_request& wants);

/// Images [3, 32, 32].
std::shared_ptr<const data_source> open_cifar(const cifar_files& options, const sample_request& wants);

/// The tensors that the model names, or the one that is there.
std::shared_ptr<const data_source> open_tensors(const tensor_files& options, const sample_request& wants);

}  // namespace hydra
