#pragma once
// Files of texts -> samples in the requested form.

#include "models/data/record_samples.hpp"

namespace hydra {

/// One sample per record. Classes are `given`, else those of the training file, if the model requires classes. Throws
/// as record_samples and class_names do.
std::shared_ptr<const data_source> open_records(record_samples_options options, const std::vector<class_label>& given);

/// All texts of the files one after the other, each followed by an end-of-text token (a line break if the tokenizer has
/// none), divided into windows; uses the token cache. `key` identifies the texts of a file together with the file's
/// bytes.
struct packed_file {
  std::shared_ptr<const record_list> records{};  ///< may be null
  std::string key{};
};
std::shared_ptr<const data_source> open_packed(record_samples_options options, const packed_file& train,
                                               const packed_file& validation);

}  // namespace hydra
