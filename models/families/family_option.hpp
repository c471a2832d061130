#pragma once
// Options of a family that are members of a struct: each is said once, by name, default, help and where its value goes.

#include "models/families/catalog.hpp"
#include "runtime/base/option.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

template <class Options>
struct family_option {
  /// The member has the option's type and default.
  template <class T>
  family_option(const char* name, T Options::*member, bool required, const char* help)
      : family_option(name, Options{}.*member, required, help, [member](Options& o, const T& v) { o.*member = v; }) {}

  /// `store(options, value)` says what the value means.
  template <class T, class Store>
  family_option(const char* name, const T& standard, bool required, const char* help, Store store)
      : shown{.name = name, .standard = standard, .required = required, .help = help},
        set([name, store](Options& o, const option_values& all) { store(o, get<T>(all, name)); }) {}

  option shown;
  std::function<void(Options&, const option_values&)> set;  ///< from complete options
};

/// The family's row in the catalogue. Values are set in the order of the options.
template <class Options>
family family_of(const char* name, const char* help, chain_description (*describe)(const Options&),
                 std::vector<family_option<Options>> options) {
  family result{name, help, {}, {}};
  for (const auto& each : options) result.options.push_back(each.shown);
  result.make = [describe, options = std::move(options)](const option_values& values) {
    Options o;
    for (const auto& each : options) each.set(o, values);
    return describe(o);
  };
  return result;
}

}  // namespace hydra
