#include "apps/steering/command_thread.hpp"

#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace hydra::apps {

command_thread::command_thread(steering& run, std::function<void(std::string text)> answered)
    : run_{run}, answered_{std::move(answered)}, thread_{[this] { execute_all(); }} {}

command_thread::~command_thread() {
  commands_.push(std::nullopt);
  thread_.join();
}

void command_thread::execute_all() {
  std::optional<read_command> next;
  for (commands_.pop(next); next; commands_.pop(next)) answered_(json_text(answer(run_, *next)));
}

}  // namespace hydra::apps
