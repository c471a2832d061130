#pragma once
// What other threads want of a run that is under way.

#include "actors/protocol/joining.hpp"
#include "actors/protocol/observation.hpp"
#include "actors/protocol/run_status.hpp"
#include "actors/protocol/steering.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/request_queue.hpp"

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <variant>

namespace hydra {

/// To the SUPERVISOR.
using run_request = std::variant<add_model, steer_model, read_status, trial_copied, rule_decided>;
using request_line = request_queue<run_request>;

/// A user's sink, for a thread of the run: what it throws is logged, and the run goes on. Null stays null; `of` is the
/// function that it was given to.
template <class Answer>
std::function<void(Answer)> contained(std::function<void(Answer)> sink, const char* of,
                                      std::shared_ptr<spdlog::logger> log) {
  if (!sink) {
    return sink;
  }
  return [sink = std::move(sink), of, log = std::move(log)](Answer answer) {
    try {
      sink(std::forward<Answer>(answer));
    } catch (...) {
      log->warn("the function that was given to {} fails: {}; the run goes on", of,
                to_fault(std::current_exception()).text);
    }
  };
}

/// What the run answers to `ask`, which gets a promise; `if_dropped`: it has ended, or has not begun.
template <class Answer, class Ask>
Answer answered(const fault& if_dropped, const Ask& ask) {
  auto answer = std::make_shared<std::promise<Answer>>();
  auto known = answer->get_future();
  ask(std::move(answer));
  try {
    return known.get();
  } catch (const std::future_error&) {
    throw fault_error(if_dropped);
  }
}

/// A sink that sets the promise, which is broken if the run ends first.
inline join_sink sink_of(std::shared_ptr<std::promise<model_id>> answer) {
  return [answer = std::move(answer)](const join_result& result) {
    if (result.why) {
      answer->set_exception(std::make_exception_ptr(fault_error(result.why)));
    } else if (!result.waits) {
      answer->set_value(result.model);
    }
  };
}
inline command_sink sink_of(std::shared_ptr<std::promise<void>> answer) {
  return [answer = std::move(answer)](const fault& why) {
    if (why) {
      answer->set_exception(std::make_exception_ptr(fault_error(why)));
    } else {
      answer->set_value();
    }
  };
}
/// Answers already when the model waits for memory; `refused` is called if it is refused after that.
inline join_sink early_sink_of(command_sink answer, command_sink refused) {
  // shared: the sink is copied
  return [open = std::make_shared<command_sink>(std::move(answer)),
          refused = std::move(refused)](const join_result& result) {
    if (const auto first = std::exchange(*open, nullptr)) {
      first(result.why);
    } else if (result.why && refused) {
      refused(result.why);
    }
  };
}

/// Requests are accepted as long as this exists.
class open_requests {
 public:
  explicit open_requests(request_line& line) : line_(line) { line_.open(); }
  ~open_requests() { line_.close(); }
  open_requests(const open_requests&) = delete;
  open_requests& operator=(const open_requests&) = delete;

 private:
  request_line& line_;
};

}  // namespace hydra
