#pragma once
// Build settings that must be equal in a plug-in and the program that loads it.

#include <hydra/interfaces.hpp>

#include <string>

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

/// Equal on both sides, otherwise the plug-in is refused. Not inline: the loader would resolve the plug-in's call to
/// the program's.
constexpr const char* plugin_abi = "hydra " HYDRA_VERSION_TEXT ", interfaces " HYDRA_INTERFACES ", LibTorch "
    HYDRA_TORCH_VERSION_TEXT ", CAF " HYDRA_CAF_VERSION_TEXT ", " HYDRA_COMPILER ", " HYDRA_STANDARD_LIBRARY
    HYDRA_STRINGS HYDRA_CONTAINERS;

}  // namespace hydra
