#pragma once
// A conversation from a record of a JSON Lines file.

#include "models/data/conversation.hpp"
#include "models/data/json_line.hpp"

namespace hydra {

/// "messages": [{"role": "user", "content": "..."}, ...] as the chat APIs have it, or "conversations": [{"from": "human",
/// "value": "..."}, ...] as ShareGPT has it: human, gpt are user, assistant. Either list may have either kind of messages.
/// Throws as line_site::refuse does: neither or an empty list, a message without role or text, a content that is no text
/// (an image), tools and their calls.
conversation read_conversation(const nlohmann::json& record, const line_site& site);

}  // namespace hydra
