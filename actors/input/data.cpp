#include "actors/input/data.hpp"

#include "actors/input/batch_reader.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/memory/host_arena.hpp"
#include "runtime/trace/trace.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// DATA: reads batches, one after the other, on a thread of its own.
class data_host final : public data_actor::base {
 public:
  using super = data_actor::base;

  data_host(caf::actor_config& config, run_services services, const std::vector<model_entry>& models,
            memory_actor memory)
      : super(config), services_(std::move(services)), memory_(std::move(memory)) {
    for (std::uint32_t i = 0; i < models.size(); ++i) {
      readers_.try_emplace(model_id{i}, model_id{i}, models[i], *services_.arena, orders_);
    }
  }

  static constexpr const char* actor_name = "data";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &data_host::on_batch_wanted), guarded(this, &data_host::on_model_admitted),
            guarded(this, &data_host::on_model_released), guarded(this, &data_host::on_shut_down)};
  }

  void on_exit() override {
    readers_.clear();
    memory_ = nullptr;
  }

  void on_fault(const fault& why) {
    services_.log->error("data reader fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  /// A batch that cannot be read is an answer, too: it ends its model, not the reader.
  void on_batch_wanted(const batch_wanted& m) {
    const auto begin = clock().now();
    batch_ready answer{m.model, m.range, 0, {}, {}, caf::actor_cast<data_actor>(this)};
    try {
      auto batch = readers_.at(m.model).read(m.range);
      answer.targets = batch.targets;
      answer.blocks = std::move(batch.blocks);
    } catch (...) {
      answer.why = to_fault(std::current_exception());
    }
    if (services_.spans) {
      services_.spans->record({"batch_wanted", "host data", begin, clock().now(), {}});
    }
    send(memory_, std::move(answer));
  }

  /// What was there has no data: of a model that has waited for memory.
  void on_model_admitted(const model_admitted& m) {
    readers_.erase(m.model);
    readers_.try_emplace(m.model, m.model, m.entry, *services_.arena, orders_);
  }

  void on_model_released(const model_released& m) { readers_.erase(m.model); }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  std::shared_ptr<epoch_orders> orders_ = std::make_shared<epoch_orders>();
  std::map<model_id, batch_reader> readers_;
  memory_actor memory_;
};

}  // namespace

data_actor spawn_data(caf::actor_system& system, const run_services& services, const std::vector<model_entry>& models,
                      const memory_actor& memory, bool detached) {
  return spawn_detached_if<data_host>(detached, system, services, models, memory);
}

}  // namespace hydra
