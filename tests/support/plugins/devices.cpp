#include "apps/examples/thread_device.hpp"
#include "tests/support/plugins/simple_policy.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

using namespace hydra;

/// The given value as text.
struct spell {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return "integer " + std::to_string(v); }
  std::string operator()(double v) const { return "real " + std::to_string(v); }
  std::string operator()(const std::string& v) const { return "text " + v; }
  std::string operator()(byte_count v) const { return std::to_string(v.value()) + " B"; }
  std::string operator()(byte_rate v) const { return std::to_string(static_cast<long>(v.per_second())) + " B/s"; }
  std::string operator()(duration v) const { return std::to_string(v.count()) + " ns"; }
};

/// What another run does while this one is planned.
void begin_another_run() {
  std::filesystem::create_directory("there");
  std::ofstream{"there/workload.toml"} << "another's";
}

/// A device, or a fault that repeats the options; in a changing mood, alternately.
void* make_moody(const void* given) {
  static int changes = 0;
  const auto& r = *static_cast<const device_request*>(given);
  const auto mood = get<std::string>(r.options, "mood");
  if (mood == "overtaken") begin_another_run();
  if (mood != "bad" && (mood != "changing" || ++changes % 2 == 1)) return new thread_device{r};
  std::string text = "in a bad mood:";
  for (const auto& [name, value] : r.options) text += " " + name + "=" + std::visit(spell{}, value);
  throw fault_error{fault_code::does_not_fit, text};
}

plugin_item moody() {
  device_about about{
      {{.name = "memory", .standard = byte_count{}, .required = true, .help = "budget"},
       {.name = "mood",
        .standard = "good",
        .help = "\"bad\": it cannot be made; \"changing\": each other time; \"overtaken\": another run starts"},
       {.name = "hot", .standard = false},
       {.name = "fans", .standard = std::int64_t{1}},
       {.name = "tilt", .standard = 0.0},
       {.name = "bus", .standard = byte_rate{}, .otherwise = "not limited"},
       {.name = "nap", .standard = duration{}}},
      [] {
        return std::vector<std::string>{"one, in the corner", "one more"};
      }};
  return {plugin_kind::device, "moody", "has options of all types", make_moody,
          std::make_shared<const device_about>(std::move(about))};
}

struct throwing {
  static void* make(const void*) { throw std::runtime_error{"the wires are crossed"}; }
  [[noreturn]] static std::vector<std::string> find() {
    throw fault_error{fault_code::bad_input, "there is no socket for it"};
  }
};

plugin_item device_item(const char* name, void* (*make)(const void*), device_about about = {}) {
  return {plugin_kind::device, name, "", make, std::make_shared<const device_about>(std::move(about))};
}

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi,
                                   {hydra::offer_policy<hydra::test::first_candidate>("front", "the first candidate"),
                                    moody(), device_item("crossed", throwing::make, {{}, throwing::find}),
                                    device_item("absent", [](const void*) -> void* { return nullptr; })}};
  return &plugin;
}
