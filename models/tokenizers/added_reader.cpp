#include "models/tokenizers/added_reader.hpp"

#include "models/tokenizers/tokenizer_source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;

/// Adds a token; errors name `key`.
void add(const model_config& file, std::string_view key, added_token token, tokenizer_parts& parts) {
  const auto in_model = parts.tokens.find(token.content);
  const std::string* const other = parts.tokens.token_of(token.id);
  if (token.content.empty()) file.refuse(key, "the token is empty");
  if (token.id > token_table::largest_id)
    file.refuse(key, fmt::format("the id {} is above {}", token.id, token_table::largest_id));
  if (in_model && *in_model != token.id)
    file.refuse(key, fmt::format("the id is {}, but the vocabulary has {} for {}", token.id, *in_model,
                                 in_quotes(token.content)));
  if (!in_model && other) file.refuse(key, fmt::format("the id {} belongs to {}", token.id, in_quotes(*other)));
  const auto same = std::ranges::find(parts.added, token.id, &added_token::id);
  const auto again = std::ranges::find(parts.added, token.content, &added_token::content);
  if (same != again)
    file.refuse(key, fmt::format("the token {} or its id {} is there already", in_quotes(token.content), token.id));
  same == parts.added.end() ? parts.added.push_back(std::move(token)) : void(*same = std::move(token));
}

std::uint32_t id_in(const model_config& file, std::string_view key, const json& id) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() > token_table::largest_id)
    file.refuse(key, fmt::format("the id is not an integer from 0 to {}", token_table::largest_id));
  return id.get<std::uint32_t>();
}

model_config entry_of(const model_config& file, const std::string& key, const json& value) {
  if (!value.is_object()) file.refuse(key, "is not a table");
  return {file.file(), value, key + "."};
}

/// Keys of the entry that are not known get a note.
added_token token_in(const model_config& entry, std::uint32_t id, tokenizer_parts& parts, bool special = false) {
  added_token t{.content = entry.text("content", ""), .id = id};
  t.special = entry.boolean("special", special);
  t.single_word = entry.boolean("single_word", false);
  t.lstrip = entry.boolean("lstrip", false);
  t.rstrip = entry.boolean("rstrip", false);
  t.normalized = entry.boolean("normalized", !t.special);
  entry.ignore({"__type"});  // of a Python class
  std::ranges::move(key_notes(entry), std::back_inserter(parts.notes));
  return t;
}

std::uint32_t next_id(const tokenizer_parts& parts) {
  std::size_t next = parts.tokens.size();
  for (const added_token& t : parts.added) next = std::max<std::size_t>(next, t.id + std::size_t{1});
  return static_cast<std::uint32_t>(next);
}

/// A token with its id, as one of the settings' files has it.
struct listed_token {
  std::string key;
  added_token token;
};

/// added_tokens_decoder.
std::vector<listed_token> listed_by_id(const model_config& file, tokenizer_parts& parts) {
  std::vector<listed_token> all;
  if (!file.has("added_tokens_decoder")) return all;
  const json& table = file.content().at("added_tokens_decoder");
  if (!table.is_object()) file.refuse("added_tokens_decoder", "is not a table");
  for (const auto& [text, value] : table.items()) {
    const std::string key = fmt::format("added_tokens_decoder.{}", text);
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size()) file.refuse(key, "is not an id");
    all.push_back({key, token_in(entry_of(file, key, value), id, parts)});
  }
  return all;
}

/// added_tokens.json.
std::vector<listed_token> listed_by_content(const model_config& file) {
  std::vector<listed_token> all;
  for (const auto& [content, id] : file.content().items())
    all.push_back({in_quotes(content),
                   {.content = content, .id = id_in(file, in_quotes(content), id), .normalized = true}});
  return all;
}

void add_listed(const model_config& file, std::vector<listed_token> tokens, new_ids ids, tokenizer_parts& parts) {
  std::ranges::sort(tokens, {}, [](const listed_token& t) { return t.token.id; });
  for (auto& [key, token] : tokens) {
    if (ids == new_ids::next && !find_token(parts, token.content) && token.id != next_id(parts))
      file.refuse(key,
                  fmt::format("{} is not in tokenizer.json, and would get the id {} there; make the two files agree",
                              in_quotes(token.content), next_id(parts)));
    add(file, key, std::move(token), parts);
  }
}

void add_named(const named_token& named, tokenizer_parts& parts) {
  const std::string content = content_of(*named.value);
  added_token token{.content = content};
  if (named.value->is_object()) token = token_in(entry_of(*named.file, named.key, *named.value), 0, parts, true);
  if (std::ranges::count(parts.added, content, &added_token::content) > 0) return;
  const auto in_model = parts.tokens.find(content);
  if (!in_model && named.key == "pad_token") {
    parts.notes.push_back(fmt::format(
        "{}: pad_token {} is not a token of the tokenizer; padding has no loss, and another token fills its place",
        named.file->file(), in_quotes(content)));
    return;
  }
  token.id = in_model.value_or(next_id(parts));
  token.special = true;
  add(*named.file, named.key, std::move(token), parts);
}

}  // namespace

void add_from_list(const model_config& file, tokenizer_parts& parts) {
  if (!file.has("added_tokens")) return;
  const json& list = file.content().at("added_tokens");
  if (!list.is_array()) file.refuse("added_tokens", "is not a list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string key = fmt::format("added_tokens[{}]", i);
    const model_config entry = entry_of(file, key, list[i]);
    entry.ignore({"id"});
    add(file, key, token_in(entry, id_in(file, key, entry.content().value("id", json{})), parts), parts);
  }
}

void add_beside(const tokenizer_settings& settings, new_ids ids, tokenizer_parts& parts) {
  const auto& [config, map, added, model] = settings;
  if (added) add_listed(*added, listed_by_content(*added), ids, parts);
  if (config) add_listed(*config, listed_by_id(*config, parts), ids, parts);
  for (const named_token& named : named_tokens(settings)) add_named(named, parts);
}

std::vector<std::string> added_anew(const std::vector<std::string>& tokens, tokenizer_parts& parts) {
  std::vector<std::string> made;
  for (const std::string& token : tokens) {
    if (std::ranges::find(parts.added, token, &added_token::content) != parts.added.end()) continue;
    const auto known = parts.tokens.find(token);
    parts.added.push_back({.content = token, .id = known.value_or(next_id(parts)), .special = true});
    made.push_back(fmt::format("{} {}", token, parts.added.back().id));
  }
  return made;
}

void recognise(const special_tokens& s, tokenizer_parts& parts) {
  for (const auto& id : {s.begin_of_text, s.end_of_text, s.padding, s.unknown, s.mask, s.classify, s.separate}) {
    const bool known = !id || std::ranges::count(parts.added, *id, &added_token::id) > 0;
    if (!known) parts.added.push_back({.content = *parts.tokens.token_of(*id), .id = *id, .special = true});
  }
}

std::optional<std::uint32_t> find_token(const tokenizer_parts& parts, std::string_view token) {
  const auto added = std::ranges::find(parts.added, token, &added_token::content);
  return added == parts.added.end() ? parts.tokens.find(token) : std::optional{added->id};
}

}  // namespace hydra
