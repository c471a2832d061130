#include "models/data/read_conversation.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace hydra {
namespace {

using nlohmann::json;

const json& messages_of(const json& record, const line_site& site) {
  for (const char* name : {"messages", "conversations"}) {
    const auto found = record.find(name);
    if (found == record.end()) continue;
    if (!found->is_array() || found->empty()) site.refuse(fmt::format("\"{}\" is no list of messages", name));
    return *found;
  }
  site.refuse("there is neither \"messages\" nor \"conversations\"");
}

std::string text_of(const json& message, const char* name, std::size_t number, const line_site& site) {
  const json& text = message.at(name);
  if (!text.is_string())
    site.refuse(fmt::format("\"{}\" of message {} is no text but of type {}", name, number, text.type_name()));
  return text.get<std::string>();
}

/// ShareGPT's names.
std::string usual_role(const std::string& role) {
  static const std::map<std::string_view, std::string_view> others{{"human", "user"}, {"gpt", "assistant"}};
  const auto found = others.find(role);
  return found == others.end() ? role : std::string{found->second};
}

/// Left out, they would be answers of another conversation.
void refuse_tools(const json& object, const std::string& whose, const line_site& site) {
  for (const char* name : {"tools", "tool_calls", "function_call"})
    if (const auto found = object.find(name); found != object.end() && !found->empty())
      site.refuse(fmt::format("{} has \"{}\"; tools are not supported", whose, name));
}

chat_message read_message(const json& message, std::size_t number, const line_site& site) {
  if (message.is_object()) refuse_tools(message, fmt::format("message {}", number), site);
  const auto has = [&](const char* name) { return message.is_object() && message.contains(name); };
  if (has("role") && has("content"))
    return {text_of(message, "role", number, site), text_of(message, "content", number, site)};
  if (has("from") && has("value"))
    return {usual_role(text_of(message, "from", number, site)), text_of(message, "value", number, site)};
  site.refuse(fmt::format("message {} has neither \"role\" and \"content\" nor \"from\" and \"value\"", number));
}

}  // namespace

conversation read_conversation(const json& record, const line_site& site) {
  refuse_tools(record, "the conversation", site);
  conversation all;
  for (const json& message : messages_of(record, site)) all.push_back(read_message(message, all.size() + 1, site));
  return all;
}

}  // namespace hydra
