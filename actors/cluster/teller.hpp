#pragma once
// What a cluster tells a person.

#include <functional>
#include <string>
#include <utility>

namespace hydra {

using teller = std::function<void(const std::string&)>;

/// The same for the threads of a cluster: null tells nobody, and what it throws ends no node and no run.
inline teller contained(teller say) {
  return [say = std::move(say)](const std::string& text) {
    try {
      if (say) {
        say(text);
      }
    } catch (...) {  // there is nobody else to tell
    }
  };
}

}  // namespace hydra
