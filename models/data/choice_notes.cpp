#include "models/data/choice_notes.hpp"

#include "models/weights/listed_names.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace hydra {

std::vector<std::string> notes_on_validation(const std::string& name, const file_list& train,
                                             const file_list& validation, bool has_share) {
  std::vector<std::string> both;
  for (const auto& file : validation) {
    std::error_code ignored;
    if (std::ranges::any_of(train,
                            [&](const auto& other) { return std::filesystem::equivalent(file, other, ignored); }))
      both.push_back(file.string());
  }
  if (both.empty()) return {};
  return {
      fmt::format("{}: {} {} for training and for validation, so the validation loss says nothing about new data; name "
                  "another as validation{}",
                  name, listed_names(both), both.size() == 1 ? "is" : "are",
                  has_share ? ", or validation_share = 0.05 in its place" : "")};
}

std::vector<std::string> notes_on_tokenizer(const std::string& name, const tokenizer_choice& chosen,
                                            const tokenizer* by, const sample_request& wants) try {
  const std::filesystem::path& folder = wants.tokenizer_folder();
  if (folder.empty() || chosen.file == folder || !has_tokenizer(folder)) return {};
  const auto stored = open_tokenizer({.file = folder, .added = chosen.added});
  if (by && by->identity() == stored->identity()) return {};
  return {fmt::format(
      "{}: the tokens are those of {}, and the model starts from a checkpoint that was trained with {}: its "
      "rows stand for other tokens. Leave out the key tokenizer, and that one is used",
      name, by ? by->describe() : "bytes", stored->describe())};
} catch (const fault_error& e) {
  return {fmt::format("{}: whether the model's checkpoint has the same tokenizer is not known: {}", name, e.what())};
}

}  // namespace hydra
