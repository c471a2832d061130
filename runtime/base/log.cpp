#include "runtime/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace hydra {

namespace {

spdlog::level::level_enum level_of(verbosity level) {
  switch (level) {
    case verbosity::quiet:
      return spdlog::level::warn;
    case verbosity::normal:
      return spdlog::level::info;
    case verbosity::debug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(verbosity level) {
  auto logger = std::make_shared<spdlog::logger>("hydra", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(level_of(level));
  logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  logger->flush_on(spdlog::level::warn);
  return logger;
}

}  // namespace hydra
