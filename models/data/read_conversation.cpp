#include "models/data/read_conversation.hpp"

#include "models/data/record_shapes.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hydra {
namespace {

using nlohmann::json;

/// Records of other kinds, by two of their keys, and how they are learnt.
struct other_kind {
  std::array<const char*, 2> keys;
  std::string_view way;
};

constexpr std::array<other_kind, 3> other_kinds{
    {{{"instruction", "output"},
      "kind = \"alpaca\" reads them; to learn them by a chat template, convert them: jq -c '{messages: [{role: "
      "\"user\", content: ([.instruction, .input // \"\"] | map(select(. != \"\")) | join(\"\\n\"))}, {role: "
      "\"assistant\", content: .output}]}'"},
     {{"prompt", "completion"},
      "kind = \"prompt-completion\" reads texts; convert lists of messages: jq -c '{messages: (.prompt + "
      ".completion)}', and choose loss_on = \"last\""},
     {{"text", "text"}, "kind = \"jsonl\" reads texts"}}};

std::string_view way_for(const json& record) {
  if (is_preference(record)) return way_for_preferences;
  const auto is = [&](const other_kind& k) { return record.contains(k.keys[0]) && record.contains(k.keys[1]); };
  const auto found = std::ranges::find_if(other_kinds, is);
  return found == other_kinds.end()
             ? "kind = \"jsonl\" reads texts, or prompts and answers, by the names of their fields"
             : found->way;
}

[[noreturn]] void refuse_other_kind(const json& record, const line_site& site) {
  site.refuse(fmt::format("there is neither \"messages\" nor \"conversations\"{}{}; {}", record.empty() ? "" : " but ",
                          quoted_fields(record), way_for(record)));
}

/// Null if there is none.
const char* list_of(const json& record) {
  for (const char* name : {"messages", "conversations"})
    if (record.contains(name)) return name;
  return nullptr;
}

const json& messages_of(const json& record, const line_site& site) {
  const char* const name = list_of(record);
  if (!name) refuse_other_kind(record, site);
  const json& list = record[name];
  if (!list.is_array() || list.empty()) site.refuse(fmt::format("\"{}\" is not a list of messages", shown(name)));
  return list;
}

/// A message of a list, for what is wrong with it.
struct message_site {
  const json& message;
  std::size_t number;
  const line_site& line;

  bool has(const char* name) const { return message.is_object() && message.contains(name); }
  [[noreturn]] void refuse(const char* name, const std::string& what) const {
    line.refuse(fmt::format("\"{}\" of message {} {}", shown(name), number, what));
  }
  std::string text(const char* name) const {
    const json& text = message.at(name);
    if (!text.is_string()) refuse(name, fmt::format("is not text but of type {}", text.type_name()));
    return text.get<std::string>();
  }
};

bool is_text_part(const json& part) {
  const auto is_text = [&](const char* name) { return part.contains(name) && part.at(name).is_string(); };
  return part.is_object() && is_text("type") && part.at("type") == "text" && is_text("text");
}

/// Parts are joined without anything between them, as templates do that know parts.
std::string content_of(const message_site& m, const char* name) {
  const json& content = m.message.at(name);
  if (!content.is_array()) return m.text(name);
  std::string all;
  for (const json& part : content) {
    if (!is_text_part(part))
      m.refuse(name, "has a part that is not {\"type\": \"text\", \"text\": \"...\"}; others are not supported");
    all += part.at("text").get<std::string>();
  }
  return all;
}

/// ShareGPT's names.
std::string usual_role(const std::string& role) {
  static const std::map<std::string_view, std::string_view> others{{"human", "user"}, {"gpt", "assistant"}};
  const auto found = others.find(role);
  return found == others.end() ? role : std::string{found->second};
}

/// Some writers give an empty list as a text.
bool says_nothing(const json& value) { return value.empty() || value == "" || value == "[]" || value == false; }

constexpr std::array reasoning_keys{"reasoning_content", "thinking", "reasoning"};

struct refused_key {
  const char* name;
  std::string_view why;
};

constexpr std::string_view no_tools = "tools are not supported", no_media = "only texts are supported";

/// Left out, they would be answers of another conversation.
constexpr std::array<refused_key, 8> refused_of_records{{{"tools", no_tools},
                                                         {"functions", no_tools},
                                                         {"image", no_media},
                                                         {"images", no_media},
                                                         {"video", no_media},
                                                         {"videos", no_media},
                                                         {"audio", no_media},
                                                         {"audios", no_media}}};
constexpr std::array<refused_key, 6> refused_of_messages{
    {{"tool_calls", no_tools},
     {"tool_call_id", no_tools},
     {"function_call", no_tools},
     {"train_detail", "a message is learnt as a whole or not at all"},
     {"images", no_media},
     {"audio", no_media}}};

void refuse_keys(const json& object, const std::string& whose, std::span<const refused_key> refused,
                 const line_site& site) {
  for (const auto& [name, why] : refused)
    if (const auto found = object.find(name); found != object.end() && !says_nothing(*found))
      site.refuse(fmt::format("{} has \"{}\"; {}", whose, shown(name), why));
}

/// Not if one of the keys says no.
std::optional<bool> learnt_by(const message_site& m) {
  std::optional<bool> learnt;
  for (const char* name : {"weight", "train"}) {
    if (!m.has(name) || m.message.at(name).is_null()) continue;
    const json& value = m.message.at(name);
    const bool yes = value == 1 || value == true;
    if (!yes && value != 0 && value != false)
      m.refuse(name, "is neither 1 or true (it is learnt) nor 0 or false (it has no loss)");
    learnt = yes && learnt.value_or(true);
  }
  return learnt;
}

/// The first of transformers' names for it.
std::string reasoning_of(const message_site& m) {
  for (const char* name : reasoning_keys)
    if (m.has(name) && !says_nothing(m.message.at(name))) return m.text(name);
  return {};
}

chat_message read_message(const message_site& m) {
  if (m.message.is_object()) refuse_keys(m.message, fmt::format("message {}", m.number), refused_of_messages, m.line);
  if (m.has("role") && m.has("content"))
    return {m.text("role"), content_of(m, "content"), learnt_by(m), reasoning_of(m)};
  if (m.has("from") && m.has("value"))
    return {usual_role(m.text("from")), content_of(m, "value"), learnt_by(m), reasoning_of(m)};
  m.line.refuse(fmt::format("message {} has neither \"role\" and \"content\" nor \"from\" and \"value\"", m.number));
}

/// What some data have beside the list.
void put_system(const json& record, conversation& c, const line_site& site) {
  for (const char* name : {"system", "system_prompt"}) {
    const auto found = record.find(name);
    if (found == record.end() || says_nothing(*found)) continue;
    const std::string text = text_field(record, name, site);
    if (c.front().role != "system")
      c.insert(c.begin(), chat_message{"system", text});
    else if (c.front().content != text)
      site.refuse(fmt::format("\"{}\" is another text than the system's message; leave one of them", shown(name)));
  }
}

}  // namespace

conversation read_conversation(const json& record, const line_site& site) {
  refuse_keys(record, "the conversation", refused_of_records, site);
  conversation all;
  for (const json& message : messages_of(record, site)) all.push_back(read_message({message, all.size() + 1, site}));
  put_system(record, all, site);
  return all;
}

void add_unread(const json& record, unread_fields& unread) {
  const std::string list = list_of(record);
  unread.add(record, {list, "system", "system_prompt"});
  for (const json& message : record.at(list)) {
    const bool named = message.contains("role") && message.contains("content");
    const std::string role = named ? "role" : "from", content = named ? "content" : "value";
    std::vector<std::string> read{role, content, "weight", "train"};
    read.insert(read.end(), reasoning_keys.begin(), reasoning_keys.end());
    unread.add(message, read, list + ".");
    if (message.at(content).is_array())
      for (const json& part : message.at(content))
        unread.add(part, {"type", "text"}, fmt::format("{}.{}.", list, content));
  }
}

}  // namespace hydra
