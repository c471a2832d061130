#pragma once
// Files of records -> samples in the requested form.

#include "models/data/data_options.hpp"
#include "models/data/record_encoding.hpp"
#include "models/data_source.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct text_records {
  std::string name;  ///< for messages
  std::shared_ptr<const record_list> train{};
  std::shared_ptr<const record_list> validation{};  ///< may be null
  std::shared_ptr<const tokenizer> by{};
  sample_request wants{};
  std::vector<class_label> labels{};  ///< empty: those of the training file, if the model requires classes
  mask_options masking{};
  bool packing = false;
  std::uint64_t seed = 0;                 ///< of which records share a window
  std::optional<template_choice> chat{};  ///< records are conversations
  chat_loss loss = chat_loss::assistant;  ///< of conversations
  std::vector<std::string> notes{};       ///< in addition to those of the tokenizer and the records
};

/// causal: record_windows. masked: one record per sample, or with packing all texts one after the other, each followed
/// by an end-of-text token (a line break if the tokenizer has none), in windows. labelled: one record per sample.
/// Throws as record_samples, record_windows, class_names and the encodings do.
std::shared_ptr<const data_source> open_records(const text_records& records);

}  // namespace hydra
