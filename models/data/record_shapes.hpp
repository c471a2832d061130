#pragma once
// Shapes of records that many data sets are published in, by the names of their fields.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hydra {

/// Texts of fields (field_template.hpp).
struct record_shape {
  std::string prompt, answer;
  std::string short_prompt{};  ///< of a record that lacks a field of `prompt`, or has an empty one
};

/// "instruction", "input", "output", with the prompts of Stanford Alpaca (github.com/tatsu-lab/stanford_alpaca,
/// train.py), of which one is for records without input. The answer follows "### Response:" at once, as there.
const record_shape& alpaca_shape();

/// "prompt", "completion": the one after the other, as TRL joins them.
const record_shape& completion_shape();

/// The kind of data that reads a record by the names of its fields: "chat", "alpaca" or "prompt-completion"; empty if
/// it looks like none.
std::string_view kind_of_record(const nlohmann::json& record);

/// For records with "chosen" and "rejected": what can be learnt of them.
extern const std::string_view way_for_preferences;
bool is_preference(const nlohmann::json& record);

}  // namespace hydra
