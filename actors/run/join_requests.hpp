#pragma once
// Models that other threads add while a run is under way.

#include "actors/protocol/joining.hpp"
#include "actors/protocol/model_description.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/request_queue.hpp"

#include <exception>
#include <future>
#include <memory>
#include <utility>

namespace hydra {

/// A model that another thread adds while the run is under way. The promise is broken if the run ends first.
struct join_request {
  model_description what;
  std::shared_ptr<std::promise<model_id>> answer;
};

using join_queue = request_queue<join_request>;

/// The request as the SUPERVISOR receives it.
inline add_model message_of(join_request r) {
  return {std::move(r.what), [answer = std::move(r.answer)](const join_result& result) {
            if (result.why) {
              answer->set_exception(std::make_exception_ptr(fault_error(result.why)));
            } else {
              answer->set_value(result.model);
            }
          }};
}

/// Models may join as long as this exists.
class open_joins {
 public:
  explicit open_joins(join_queue& queue) : queue_(queue) { queue_.open(); }
  ~open_joins() { queue_.close(); }
  open_joins(const open_joins&) = delete;
  open_joins& operator=(const open_joins&) = delete;

 private:
  join_queue& queue_;
};

}  // namespace hydra
