#include "models/data/data_catalog.hpp"

#include "models/data/gaussian_clusters.hpp"
#include "models/data/markov_chain.hpp"
#include "models/data/markov_table.hpp"
#include "models/data/openers.hpp"
#include "models/data/stored_template.hpp"
#include "models/data/token_windows.hpp"
#include "models/layers/checks.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

using source = std::shared_ptr<const data_source>;

template <class Files>
concept with_tokenizer = requires(const Files& files) {
  files.tokenizer;
};

template <class Files>
bool holds_text(const Files&) {
  return true;
}
bool holds_text(const token_files&) { return false; }  // token ids need no tokenizer
bool holds_text(const csv_files& o) { return !o.text.empty(); }

[[noreturn]] void refuse_without_tokenizer(const std::string& file, const std::filesystem::path& checkpoint) {
  refuse(
      fmt::format("{}: the model starts from {}, which has no tokenizer that Hydra reads (tokenizer.json, vocab.json "
                  "with merges.txt, or vocab.txt); name the one that it was trained with, tokenizer = {{ file = "
                  "\"...\" }}, or say tokenizer = \"bytes\" if each byte shall be a token",
                  file, checkpoint.string()));
}

template <with_tokenizer Files>
tokenizer_choice named_or_stored(const Files& o, const sample_request& wants) {
  if (o.tokenizer == tokenizer_choice{.bytes = true}) return {};
  const std::filesystem::path& stored = wants.tokenizer_folder();
  if (o.tokenizer != tokenizer_choice{} || stored.empty() || !holds_text(o)) return o.tokenizer;
  if (!has_tokenizer(stored)) refuse_without_tokenizer(o.train.string(), stored);
  return {.file = stored};
}

/// Empty: bytes.
template <with_tokenizer Files>
tokenizer_choice chosen_tokenizer(const Files& o, const sample_request& wants) {
  tokenizer_choice choice = named_or_stored(o, wants);
  if (holds_text(o)) choice.added = wants.tokens;
  return choice;
}

/// One overload per alternative of data_description::what.
struct opener {
  const sample_request& wants;

  source operator()(const synthetic_language& o) const {
    require_positive("synthetic-language: tokens", o.tokens);
    if (o.validation_tokens != 0) require_positive("synthetic-language: validation_tokens", o.validation_tokens);
    const markov_chain language{o.symbols, o.order, o.seed};
    const auto tokens = [&](std::int64_t n, std::uint64_t seed) {
      return token_list{language.generate(static_cast<std::size_t>(n), seed)};
    };
    token_windows_options windows{.parts = {fmt::format("synthetic-language symbols={} order={}", o.symbols, o.order),
                                            tokens(o.tokens, 1), tokens(o.validation_tokens, 2), o.symbols},
                                  .context = wants.context};
    if (markov_table::exists_for(language)) windows.language = std::make_shared<markov_table>(language);
    return std::make_shared<token_windows>(std::move(windows));
  }

  source operator()(const synthetic_classes& o) const { return std::make_shared<gaussian_clusters>(o); }

  source operator()(const text_files& o) const { return open_text(read_by_choice(o), wants); }
  source operator()(const token_files& o) const { return open_tokens(read_by_choice(o), wants); }
  source operator()(const jsonl_files& o) const { return open_jsonl(read_by_choice(o), wants); }
  source operator()(const chat_files& o) const { return open_chat(read_by_choice(o), wants); }
  source operator()(const csv_files& o) const { return open_csv(read_by_choice(o), wants); }
  source operator()(const image_folders& o) const { return open_images(o, wants); }
  source operator()(const cifar_files& o) const { return open_cifar(o, wants); }
  source operator()(const tensor_files& o) const { return open_tensors(o, wants); }

  source operator()(const source& own) const {
    if (!own) refuse("the data source is null");
    return own;
  }

 private:
  template <class Files>
  Files read_by_choice(Files o) const {
    o.tokenizer = chosen_tokenizer(o, wants);
    return o;
  }
};

}  // namespace

std::shared_ptr<const data_source> open_data(const data_description& data, const sample_request& wants) {
  return std::visit(opener{wants}, data.what);
}

std::optional<tokenizer_choice> tokenizer_for(const data_description& data, const sample_request& wants) {
  const auto of = [&]<class Files>(const Files& files) -> std::optional<tokenizer_choice> {
    if constexpr (with_tokenizer<Files>) {
      const tokenizer_choice choice = chosen_tokenizer(files, wants);
      if (holds_text(files) || choice != tokenizer_choice{}) return choice;
    }
    return std::nullopt;
  };
  return std::visit(of, data.what);
}

std::optional<template_choice> chat_format_of(const data_description& data, const sample_request& wants,
                                              const tokenizer& by) {
  const auto* const chat = std::get_if<chat_files>(&data.what);
  if (!chat) return std::nullopt;
  return with_stored(chat->format, chosen_tokenizer(*chat, wants), marks_of(by));
}

}  // namespace hydra
