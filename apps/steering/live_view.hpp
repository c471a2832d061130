#pragma once
// The HTML of a live page: state and buttons above the charts and tables of `hydra report`.

#include <string>

namespace hydra::apps {

/// `content`: charts and tables. The page's only script has `nonce`; it fills in the state and replaces `content` by
/// what GET /events sends, and sends buttons' commands to POST /command. Nothing else is loaded.
std::string live_view(const std::string& title, const std::string& content, const std::string& nonce);

}  // namespace hydra::apps
