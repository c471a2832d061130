#pragma once
// DEVICE: the pipeline of one device.

#include "actors/device/device_pipeline.hpp"
#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"
#include "runtime/base/ids.hpp"

namespace hydra {

class device;

struct device_setup {
  device_id id;
  device* machine = nullptr;
  pipeline_options pipeline;
  scheduler_actor scheduler;
  memory_actor memory;
  reporter_actor reporter;
};
device_actor spawn_device(caf::actor_system& system, const run_services& services, const device_setup& setup);

}  // namespace hydra
