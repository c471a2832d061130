#pragma once
// runtime/ answers: where are the bytes, and how are they moved? Devices, tickets, queues, budgets, the host arena, the
// block cache, folders that survive crashes, plug-ins, trace, log, faults. It may use Torch, TBB, spdlog and OpenSSL,
// and CUDA only in the plug-in runtime/device/cuda/. It must not know models or actors: device.hpp is all that is
// needed to write a new device type.
//
// Read in this order: base/ ids, unit, block_id (the vocabulary), bytes, fault; memory/ byte_budget; device/ device,
// ticket; memory/ block_cache.

namespace hydra {

class byte_budget;
class reservation;
class host_arena;
class host_block;
class device;
class block_cache;
class trace;
class byte_sink;
class durable_folder;
class file_system;
class writable_file;
struct device_block;
struct device_info;
struct fault;
struct ticket;
struct completion;
struct unit;
struct block_id;

}  // namespace hydra
