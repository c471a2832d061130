#include "runtime/base/log.hpp"

#include "runtime/base/shown_text.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <ctime>
#include <memory>
#include <string>
#include <utility>

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

/// Names in a message may come from files and nodes of others.
class printable_message final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    to.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<printable_message>(); }
};

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(verbosity level) {
  auto logger = std::make_shared<spdlog::logger>("hydra", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(level_of(level));
  auto format = std::make_unique<spdlog::pattern_formatter>();
  format->add_flag<printable_message>('*').set_pattern("%H:%M:%S.%e %^%l%$ %*");
  logger->set_formatter(std::move(format));
  logger->flush_on(spdlog::level::warn);
  return logger;
}

}  // namespace hydra
