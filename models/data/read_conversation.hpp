#pragma once
// A conversation from a record of a JSON Lines file.

#include "models/data/conversation.hpp"
#include "models/data/json_line.hpp"
#include "models/data/unread_fields.hpp"

namespace hydra {

/// "messages": [{"role": "user", "content": "..."}, ...] as the chat APIs have it, or "conversations": [{"from":
/// "human", "value": "..."}, ...] as ShareGPT has it: human, gpt are user, assistant. Either list may have either kind
/// of messages. A content may be a list of parts of type text, which are joined. "weight" (0 or 1) or "train" of a
/// message say whether it is learnt; "system" or "system_prompt" beside the list is a first message of the system.
/// Throws as line_site::refuse does: neither or an empty list, a message without role or text, what would change the
/// answers and is not supported (tools, parts that are not text).
conversation read_conversation(const nlohmann::json& record, const line_site& site);

/// What read_conversation() does not read of a record that it accepts.
void add_unread(const nlohmann::json& record, unread_fields& unread);

}  // namespace hydra
