#pragma once
// Files of texts -> samples in the form that is wanted.

#include "models/data/record_samples.hpp"

namespace hydra {

/// One sample for each record. Classes are `given`, else those of the training file, where the model wants classes. Throws as
/// record_samples and class_names do.
std::shared_ptr<const data_source> open_records(record_samples_options options, const std::vector<class_label>& given);

/// All texts of the files one after the other, an end-of-text token behind each (a line break if the tokenizer has none), cut
/// into windows; by way of the token cache. `key` names what the texts of a file are, besides the file's bytes.
struct packed_file {
  std::shared_ptr<const record_list> records{};  ///< may be null
  std::string key{};
};
std::shared_ptr<const data_source> open_packed(record_samples_options options, const packed_file& train,
                                               const packed_file& validation);

}  // namespace hydra
