#pragma once
// A sample as a model sees it, for people.

#include "models/data_source.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

struct shown_token {
  std::int64_t id = 0;
  std::string text;                       ///< empty: there is no tokenizer
  bool taught = false;                    ///< it is a target with a loss
  bool begins = false;                    ///< a record, in a sample of several
  bool only_target = false;               ///< behind the last input of a record
  std::optional<std::int64_t> masked{};   ///< the id that the model has to guess
  std::string masked_text{};
};

struct shown_sample {
  split part = split::train;
  std::size_t index = 0;
  std::string input;                      ///< "i64[32]", or the parts
  std::vector<shown_token> tokens{};      ///< of text, without padding
  std::size_t padding = 0;                ///< inputs: with the tokens that are inputs they are the sample's length
  std::vector<float> numbers{};           ///< of an input that is numbers: all of it
  std::optional<std::int64_t> label{};
  std::string label_name{};
  std::vector<float> targets{};           ///< where they are numbers
};

/// Sample `index` of a part, which has it. `words`: null if the data have no tokenizer. `form`: the model's.
shown_sample show_sample(const data_source& source, sample_form form, const tokenizer* words, split part,
                         std::size_t index);

/// Tokens in quotes, bytes of a character that is split into several as \xc3, a * before those that are taught, a |
/// before each further record.
std::string to_text(const shown_sample& sample);
/// What the marks in the texts of these samples say, a line; empty if there are none.
std::string legend(std::span<const shown_sample> samples);
nlohmann::ordered_json json_of(const shown_sample& sample);

}  // namespace hydra::apps
