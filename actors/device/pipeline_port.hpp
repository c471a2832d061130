#pragma once
// What the pipeline of a device sends.

#include "actors/protocol/visit_times.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/ticket.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// The outgoing messages of the pipeline.
class pipeline_port {
 public:
  virtual ~pipeline_port() = default;
  virtual void lease(ticket lease, const unit& u, std::vector<block_id> reads, std::vector<block_id> outputs) = 0;
  virtual void return_lease(ticket lease) = 0;
  virtual void demoted(const unit& u, const visit_times& times) = 0;
  virtual void failed(const unit& u, const fault& why) = 0;
  virtual void freed(std::uint32_t credits, const std::optional<unit>& running, std::vector<block_id> cached,
                     std::vector<block_id> dropped) = 0;
};

}  // namespace hydra
