#include "runtime/device/work_meter.hpp"

#include "runtime/device/cpu/accounting_allocator.hpp"

#include <limits>

namespace hydra {

namespace {

class host_meter final : public work_meter {
 public:
  time_point now() override { return steady_clock::now(); }
  byte_count used() const noexcept override { return account_.used(); }
  byte_count peak() const noexcept override { return account_.peak(); }
  void reset_peak() noexcept override { account_.reset_peak(); }

 private:
  memory_account account_{byte_count{std::numeric_limits<std::int64_t>::max()}};
  const charge_to charged_{account_};
};

}  // namespace

std::unique_ptr<work_meter> make_host_meter() { return std::make_unique<host_meter>(); }

}  // namespace hydra
