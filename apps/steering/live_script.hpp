#pragma once
// The script of a live page.

namespace hydra::apps {

extern const char* const live_script;

}  // namespace hydra::apps
