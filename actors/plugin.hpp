#pragma once
// What a plug-in includes, as <hydra/plugin.hpp>: the table it shows and the policies it offers. Headers only: a
// plug-in links no library of Hydra. What it calls that is not in a header is found in the program that loads it.

#include "actors/policy/policy.hpp"
#include "actors/policy/policy_options.hpp"
#include "runtime/plugin_table.hpp"

#include <hydra/interfaces.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__clang__)
#define HYDRA_COMPILER "clang " __clang_version__
#else
#define HYDRA_COMPILER "gcc " __VERSION__
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define HYDRA_STRINGS ", old strings"
#else
#define HYDRA_STRINGS ""
#endif
#if defined(_GLIBCXX_DEBUG)
#define HYDRA_CONTAINERS ", checked containers"
#else
#define HYDRA_CONTAINERS ""
#endif

#define HYDRA_AS_TEXT(value) HYDRA_AS_TEXT_OF(value)
#define HYDRA_AS_TEXT_OF(value) #value
#if defined(_LIBCPP_VERSION)
#define HYDRA_STANDARD_LIBRARY "libc++ " HYDRA_AS_TEXT(_LIBCPP_VERSION)
#elif defined(__GLIBCXX__)
#define HYDRA_STANDARD_LIBRARY "libstdc++ " HYDRA_AS_TEXT(__GLIBCXX__)
#else
#define HYDRA_STANDARD_LIBRARY "another standard library"
#endif

namespace hydra {

/// Equal on both sides, or the plug-in is refused. Not inline: the loader would give the plug-in the program's.
constexpr const char* plugin_abi = "hydra " HYDRA_VERSION_TEXT ", interfaces " HYDRA_INTERFACES ", CAF "
    HYDRA_CAF_VERSION_TEXT ", " HYDRA_COMPILER ", " HYDRA_STANDARD_LIBRARY
    HYDRA_STRINGS HYDRA_CONTAINERS;

/// `Policy` is made from policy_options if it takes them, else from nothing. plugin_item::make returns a policy*, its
/// options are policy_options, and `about` is a std::vector<policy_option>.
template <std::derived_from<policy> Policy>
plugin_item offer_policy(std::string name, std::string help, std::vector<policy_option> options = {}) {
  const auto make = [](const void* given) -> void* {
    policy* made = nullptr;
    if constexpr (std::constructible_from<Policy, const policy_options&>) {
      made = new Policy(*static_cast<const policy_options*>(given));
    } else {
      made = new Policy();
    }
    return made;
  };
  return {plugin_kind::policy, std::move(name), std::move(help), make,
          std::make_shared<const std::vector<policy_option>>(std::move(options))};
}

}  // namespace hydra
