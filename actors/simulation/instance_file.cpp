#include "actors/simulation/instance_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* format_name = "schedule-instance/1";
constexpr std::int64_t most_us = std::numeric_limits<std::int64_t>::max() / 1000;

/// A JSON value with the path of keys that leads to it.
struct node {
  const json& is;
  std::string path;

  [[noreturn]] void refuse(const std::string& what) const {
    throw fault_error(fault_code::bad_input, path.empty() ? what : path + ": " + what);
  }
  [[noreturn]] void refuse_type(std::string_view expected) const {
    refuse(fmt::format("{} is given, expected {}", shown_json(is), expected));
  }
};

// -- values -----------------------------------------------------------------------------------------------------------

void read(const node& n, bool& into) {
  if (!n.is.is_boolean()) {
    n.refuse_type("true or false");
  }
  into = n.is.get<bool>();
}

void read(const node& n, double& into) {
  if (!n.is.is_number()) {
    n.refuse_type("a number");
  }
  into = n.is.get<double>();
}

void read(const node& n, std::string& into) {
  if (!n.is.is_string()) {
    n.refuse_type("a text");
  }
  into = n.is.get<std::string>();
}

void read(const node& n, std::uint64_t& into) {
  if (!n.is.is_number_unsigned()) {
    n.refuse_type("an integer of at least 0");
  }
  into = n.is.get<std::uint64_t>();
}

void read(const node& n, std::uint32_t& into) {
  std::uint64_t wide = 0;
  read(n, wide);
  if (wide > std::numeric_limits<std::uint32_t>::max()) {
    n.refuse_type("an integer below 2^32");
  }
  into = static_cast<std::uint32_t>(wide);
}

void read(const node& n, duration& into) {
  std::uint64_t us = 0;
  if (!n.is.is_number_unsigned() || (us = n.is.get<std::uint64_t>()) > static_cast<std::uint64_t>(most_us)) {
    n.refuse_type("a time in whole microseconds");
  }
  into = std::chrono::microseconds{us};
}

template <class T>
void read(const node& n, std::optional<T>& into) {
  read(n, into.emplace());
}

template <class T>
void read(const node& n, std::vector<T>& into) {
  if (!n.is.is_array()) {
    n.refuse_type("a list");
  }
  for (std::size_t i = 0; i < n.is.size(); ++i) {
    read(node{n.is[i], fmt::format("{}[{}]", n.path, i)}, into.emplace_back());
  }
}

// -- objects ----------------------------------------------------------------------------------------------------------

/// Reads the keys of an object; keys that were not read are unknown.
class object_reader {
 public:
  explicit object_reader(const node& n) : node_(n) {
    if (!n.is.is_object()) {
      n.refuse_type("an object");
    }
  }

  template <class T>
  bool optional(const char* key, T& into) {
    known_.emplace_back(key);
    const auto found = node_.is.find(key);
    if (found == node_.is.end()) {
      return false;
    }
    read(node{*found, path_of(key)}, into);
    return true;
  }

  template <class T>
  void required(const char* key, T& into) {
    if (!optional(key, into)) {
      node_.refuse(fmt::format("the key \"{}\" is missing", key));
    }
  }

  /// A key that may hold one value only.
  template <class T>
  void constant(const char* key, const T& only) {
    T value = only;
    if (optional(key, value) && value != only) {
      node{node_.is.at(key), path_of(key)}.refuse_type(json_text(json(only)));
    }
  }

  void end() const {
    for (const auto& [key, unused] : node_.is.items()) {
      if (std::ranges::count(known_, key) == 0) {
        node_.refuse(fmt::format("the key \"{}\" is not known{}", shown(key), known_instead(key, known_)));
      }
    }
  }

 private:
  std::string path_of(const char* key) const { return node_.path.empty() ? key : node_.path + "." + key; }

  const node& node_;
  std::vector<std::string> known_;
};

/// Slow and shared links are not simulated.
struct link_rules {};

void read(const node& n, link_rules&) {
  object_reader keys{n};
  keys.constant("private", true);
  keys.constant("full_duplex", true);
  keys.end();
}

void read(const node& n, power_draw& w) {
  object_reader keys{n};
  keys.required("busy", w.busy);
  keys.required("idle", w.idle);
  keys.end();
}

void read(const node& n, billing& b) {
  std::string text;
  read(n, text);
  const auto known = billing_of(text);
  if (!known) {
    n.refuse_type("\"run\" or \"used\"");
  }
  b = *known;
}

void read(const node& n, instance_device& d) {
  object_reader keys{n};
  keys.optional("speed", d.speed);
  keys.optional("fails", d.fails);
  keys.optional("price", d.terms.price);
  keys.optional("watts", d.terms.watts);
  keys.optional("billing", d.terms.billed);
  keys.end();
}

void read(const node& n, instance_model& m) {
  object_reader keys{n};
  keys.optional("name", m.name);
  keys.required("steps", m.steps);
  keys.optional("replicas", m.replicas);
  keys.optional("waves", m.waves);
  keys.optional("first_trained", m.first_trained);
  keys.optional("base", m.base);
  keys.optional("base_h2d", m.base_h2d);
  keys.optional("activation", m.activation);
  keys.optional("remaining_scale", m.remaining_scale);
  keys.optional("arrival", m.arrival);
  keys.optional("priority", m.priority);
  keys.optional("deadline", m.deadline);
  keys.required("forward", m.forward);
  keys.required("backward", m.backward);
  for (const auto& [key, times] :
       {std::pair{"h2d", &m.h2d}, {"d2h_gradient", &m.d2h_gradient}, {"optimizer", &m.optimizer}}) {
    if (!keys.optional(key, *times)) {
      times->assign(m.forward.size(), duration::zero());
    }
  }
  keys.end();
}

void name_models(std::vector<instance_model>& models) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].name.empty()) {
      models[i].name = fmt::format("m{:02}", i);
    }
  }
}

schedule_instance read_instance(const json& root, const std::string& source) {
  const node whole{root, ""};
  object_reader keys{whole};
  schedule_instance instance;
  instance.name = std::filesystem::path{source}.stem().string();
  std::string format;
  link_rules link;
  keys.required("format", format);
  if (format != format_name) {
    node{root.at("format"), "format"}.refuse_type(fmt::format("\"{}\"", format_name));
  }
  keys.optional("name", instance.name);
  keys.optional("note", instance.note);
  keys.constant("time_unit", std::string{"us"});
  keys.required("devices", instance.devices);
  keys.optional("slots", instance.slots);
  keys.optional("link", link);
  keys.optional("prefetch", instance.prefetch);
  keys.optional("depth", instance.depth);
  keys.optional("copy_back_clean", instance.copy_back_clean);
  keys.optional("host_workers", instance.host_workers);
  keys.optional("noise", instance.noise);
  keys.optional("seed", instance.seed);
  keys.required("models", instance.models);
  keys.end();
  name_models(instance.models);
  validate(instance);
  return instance;
}

// -- writing ----------------------------------------------------------------------------------------------------------

std::int64_t microseconds(duration t) {
  if (t.count() % 1000 != 0) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("instances are written in whole microseconds, a time of {} ns is not", t.count()));
  }
  return t.count() / 1000;
}

std::string list_of(const std::vector<duration>& times) {
  std::vector<std::int64_t> us;
  std::ranges::transform(times, std::back_inserter(us), microseconds);
  return fmt::format("[{}]", fmt::join(us, ", "));
}

std::string text_of(const std::string& s) { return json_text(json(s)); }

std::string number_of(double x) { return json_text(json(x)); }

std::string json_of(const instance_device& d) {
  auto text = fmt::format("{{\"speed\": {}", number_of(d.speed));
  if (d.fails) {
    text += fmt::format(", \"fails\": {}", microseconds(*d.fails));
  }
  if (d.terms.price) {
    text += fmt::format(", \"price\": {}", number_of(*d.terms.price));
  }
  if (const auto& watts = d.terms.watts) {
    text += fmt::format(", \"watts\": {{\"busy\": {}, \"idle\": {}}}", number_of(watts->busy), number_of(watts->idle));
  }
  if (d.terms.billed != billing::run) {
    text += fmt::format(", \"billing\": \"{}\"", to_string(d.terms.billed));
  }
  return text + "}";
}

/// Keys that came after the first version of the format.
std::string extensions_of(const instance_model& m) {
  std::string text;
  for (const auto& [key, lanes] : {std::pair{"replicas", m.replicas}, {"waves", m.waves}}) {
    if (lanes != 1) {
      text += fmt::format(", \"{}\": {}", key, lanes);
    }
  }
  if (m.first_trained > 0) {
    text += fmt::format(", \"first_trained\": {}", m.first_trained);
  }
  if (!m.base.empty()) {
    text += fmt::format(", \"base\": {}", text_of(m.base));
  }
  if (m.arrival > duration::zero()) {
    text += fmt::format(", \"arrival\": {}", microseconds(m.arrival));
  }
  if (m.priority != 1) {
    text += fmt::format(", \"priority\": {}", number_of(m.priority));
  }
  if (m.deadline) {
    text += fmt::format(", \"deadline\": {}", microseconds(*m.deadline));
  }
  return text;
}

std::string json_of(const instance_model& m) {
  std::string text =
      fmt::format("    {{\"name\": {}, \"steps\": {}, \"activation\": {}, \"remaining_scale\": {}{}", text_of(m.name),
                  m.steps, microseconds(m.activation), number_of(m.remaining_scale), extensions_of(m));
  for (const auto& [key, times] : {std::pair{"forward", &m.forward},
                                   {"backward", &m.backward},
                                   {"h2d", &m.h2d},
                                   {"d2h_gradient", &m.d2h_gradient},
                                   {"optimizer", &m.optimizer}}) {
    text += fmt::format(", \"{}\": {}", key, list_of(*times));
  }
  if (!m.base_h2d.empty()) {
    text += fmt::format(", \"base_h2d\": {}", list_of(m.base_h2d));
  }
  return text + "}";
}

template <class T>
std::string joined(const std::vector<T>& all, std::string_view between) {
  std::vector<std::string> texts;
  std::ranges::transform(all, std::back_inserter(texts), [](const T& x) { return json_of(x); });
  return fmt::format("{}", fmt::join(texts, between));
}

std::string noise_of(const schedule_instance& i) {
  std::string text;
  if (i.noise > 0) {
    text += fmt::format(", \"noise\": {}", number_of(i.noise));
  }
  if (i.seed > 0) {
    text += fmt::format(", \"seed\": {}", i.seed);
  }
  return text;
}

}  // namespace

schedule_instance parse_instance(std::string_view text, const std::string& source) {
  try {
    return read_instance(parse_ordered_json(text), source);
  } catch (const json::parse_error& e) {
    throw fault_error(fault_code::bad_input, fmt::format("{}: not valid JSON at byte {} of {}; is it truncated?",
                                                         source, e.byte, text.size()));
  } catch (const json::exception& e) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("{}: not a scheduling instance: {}", source, json_complaint(e)));
  } catch (const fault_error& e) {
    throw fault_error(e.what_happened().code, fmt::format("{}: {}", source, e.what_happened().text));
  }
}

schedule_instance load_instance(const std::filesystem::path& file) {
  return parse_instance(read_text(file, text_kind::plan), file.string());
}

std::string to_json(const schedule_instance& i) {
  return fmt::format(
      "{{\n  \"format\": \"{}\", \"name\": {},\n  \"note\": {},\n  \"time_unit\": \"us\", \"devices\": [{}],\n"
      "  \"slots\": {}, \"link\": {{\"private\": true, \"full_duplex\": true}}, \"prefetch\": {}, {}"
      "\"copy_back_clean\": {}, \"host_workers\": {}{},\n  \"models\": [\n{}\n  ]\n}}\n",
      format_name, text_of(i.name), text_of(i.note), joined(i.devices, ", "), i.slots, i.prefetch,
      i.depth == 1 ? "" : fmt::format("\"depth\": {}, ", i.depth), i.copy_back_clean, i.host_workers, noise_of(i),
      joined(i.models, ",\n"));
}

}  // namespace hydra
