#pragma once
// Notes on what the user has chosen: files for validation that are trained on, a tokenizer that is not the model's.

#include "models/data/file_list.hpp"
#include "models/data_source.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <string>
#include <vector>

namespace hydra {

/// If a file or folder of `validation` is one of `train`, too. `name`: of the data. `has_share`: this kind of data has
/// the key validation_share.
std::vector<std::string> notes_on_validation(const std::string& name, const file_list& train,
                                             const file_list& validation, bool has_share = false);

/// If `chosen` gives other tokens than the tokenizer of sample_request::tokenizer_folder(). `by`: it, null for bytes.
std::vector<std::string> notes_on_tokenizer(const std::string& name, const tokenizer_choice& chosen,
                                            const tokenizer* by, const sample_request& wants);

/// Both.
template <class Files>
std::vector<std::string> notes_on_choices(const std::string& name, const Files& o, const tokenizer* by,
                                          const sample_request& wants) {
  std::vector<std::string> all = notes_on_validation(name, o.train, o.validation, requires { o.validation_share; });
  for (std::string& note : notes_on_tokenizer(name, o.tokenizer, by, wants)) all.push_back(std::move(note));
  return all;
}

}  // namespace hydra
