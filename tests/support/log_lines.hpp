#pragma once
// What is logged, for tests of lines that a person reads.

#include "runtime/base/log.hpp"

#include <spdlog/sinks/base_sink.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace hydra::test {

/// Calls `heard` with each line of a warning or an error, on the thread that logs, one at a time.
inline std::shared_ptr<spdlog::logger> logger_to(std::function<void(const std::string&)> heard) {
  class sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    explicit sink(std::function<void(const std::string&)> h) : heard_(std::move(h)) {}

   private:
    void sink_it_(const spdlog::details::log_msg& m) override {
      heard_(std::string(m.payload.data(), m.payload.size()));
    }
    void flush_() override {}
    std::function<void(const std::string&)> heard_;
  };
  auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<sink>(std::move(heard)));
  logger->set_level(spdlog::level::warn);
  return logger;
}

}  // namespace hydra::test
