#pragma once
// The kinds of data of a workload, and the function that opens them.

#include "models/data/data_options.hpp"
#include "models/data_source.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hydra {

/// One entry of `[data.NAME]`, or a user's own source.
struct data_description {
  std::variant<synthetic_language, synthetic_classes, text_files, token_files, jsonl_files, chat_files, csv_files,
               image_folders, cifar_files, tensor_files, std::shared_ptr<const data_source>>
      what;
  bool shuffle = true;
};

/// C++ API: hydra::text("corpus.txt"), hydra::jsonl({.train = "chat.jsonl", .prompt = "question", .answer = "answer"}).
inline data_description text(std::filesystem::path train, std::filesystem::path validation = {},
                             tokenizer_choice tokenizer = {}) {
  return {text_files{std::move(train), std::move(validation), std::move(tokenizer)}};
}
inline data_description jsonl(jsonl_files files) { return {std::move(files)}; }
inline data_description chat(chat_files files) { return {std::move(files)}; }
inline data_description csv(csv_files files) { return {std::move(files)}; }
inline data_description images(image_folders folders) { return {std::move(folders)}; }
inline data_description cifar(cifar_files files) { return {std::move(files)}; }
inline data_description tensors(tensor_files files) { return {std::move(files)}; }

/// Opens a source after checking every record and the header of every image. For a text, causal sample i is the window
/// of context + 1 tokens at i * context. Throws fault_error{bad_input} or {io} with the file and the line or position:
/// missing, not readable, empty, not UTF-8, too short for one sample, a token id not below the vocabulary, a record
/// that does not match the options, an image that cannot be read; or if the data lack what the model requires. Text is
/// read by tokenizer_for().
std::shared_ptr<const data_source> open_data(const data_description& data, const sample_request& wants);
inline std::shared_ptr<const data_source> open_data(const data_description& data, std::int64_t context) {
  return open_data(data, sample_request{.context = context});
}

/// The tokenizer that reads the data's texts for this model: the one that the data name, else that of
/// sample_request::tokenizer_folder(), else bytes. Empty if the data are not texts. Throws fault_error{bad_input} if
/// the checkpoint has no tokenizer and the data name none.
std::optional<tokenizer_choice> tokenizer_for(const data_description& data, const sample_request& wants);

/// The template of data of conversations that this tokenizer reads for the model, with what it wants of a checkpoint
/// (stored_template.hpp); nothing for other data.
std::optional<template_choice> chat_format_of(const data_description& data, const sample_request& wants,
                                              const tokenizer& by);

}  // namespace hydra
