#include "models/tokenizers/part_readers.hpp"

#include "models/tokenizers/pipeline_parts.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;
using token_ids = std::vector<std::uint32_t>;

struct text_frame {
  token_ids before, after;
};

std::uint32_t known_id(const model_config& part, std::string_view key, const json& id, const tokenizer_parts& parts) {
  const bool is_id = id.is_number_unsigned() && id.get<std::uint64_t>() <= token_table::largest_id;
  const auto value = is_id ? id.get<std::uint32_t>() : 0;
  if (!is_id || (!parts.tokens.token_of(value) && std::ranges::count(parts.added, value, &added_token::id) == 0))
    part.refuse(key, fmt::format("{} is the id of no token", shown_json(id)));
  return value;
}

/// The ids of a token of a template: "special_tokens": {"<s>": {"ids": [1], ...}}.
token_ids ids_of(const model_config& part, const std::string& token, const tokenizer_parts& parts) {
  const json table = part.has("special_tokens") ? part.content().at("special_tokens") : json{};
  const std::string key = fmt::format("special_tokens.{}.ids", token);
  if (!table.is_object() || !table.contains(token) || !table.at(token).contains("ids"))
    part.refuse(key, "is missing, but the template writes this token");
  token_ids ids;
  for (const json& id : table.at(token).at("ids")) ids.push_back(known_id(part, key, id, parts));
  return ids;
}

text_frame read_template(const model_config& part, const tokenizer_parts& parts) {
  part.ignore({"pair", "special_tokens"});
  text_frame frame;
  bool behind = false;
  for (const model_config& piece : part.tables("single")) {
    const auto token = piece.table("SpecialToken"), text = piece.table("Sequence");
    if (token) {
      token->ignore({"type_id"});
      const token_ids ids = ids_of(part, token->text("id", ""), parts);
      auto& to = behind ? frame.after : frame.before;
      to.insert(to.end(), ids.begin(), ids.end());
    } else if (!text || behind || text->text("id", "") != "A") {
      part.refuse("single", "is not a template of special tokens around one text, A");
    } else {
      text->ignore({"type_id"});
      behind = true;
    }
  }
  if (!behind) part.refuse("single", "has no place for the text, A");
  return frame;
}

/// "cls": ["[CLS]", 101].
token_ids marked_id(const model_config& part, std::string_view key, const tokenizer_parts& parts) {
  const json pair = part.has(key) ? part.content().at(key) : json{};
  if (!pair.is_array() || pair.size() != 2) part.refuse(key, "is not a token with its id");
  return {known_id(part, key, pair[1], parts)};
}

text_frame read_frame(const model_config& part, const tokenizer_parts& parts) {
  const std::string type = type_of(part);
  if (type == "TemplateProcessing") return read_template(part, parts);
  part.ignore({"add_prefix_space", "trim_offsets", "use_regex"});  // of offsets
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return {marked_id(part, "cls", parts), marked_id(part, "sep", parts)};
  if (type != "ByteLevel")
    refuse_type(part,
                "of post_processors, TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, a Sequence of "
                "them, or none");
  return {};
}

}  // namespace

void read_post_processor(const model_config& file, tokenizer_parts& parts) {
  for (const model_config& part : members(file, "post_processor", "processors")) {
    text_frame frame = read_frame(part, parts);
    if (frame.before.empty() && frame.after.empty()) continue;
    if (!parts.special.before.empty() || !parts.special.after.empty())
      part.refuse("type", fmt::format("a second part that adds tokens to a text is not supported{}", ids_instead));
    parts.special.before = std::move(frame.before);
    parts.special.after = std::move(frame.after);
  }
}

}  // namespace hydra
