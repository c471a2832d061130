#pragma once
// A loop compiled for several instruction sets; the one of the machine is chosen when the program is loaded.

/// Precedes a function that is one loop over arrays. Every clone rounds alike: contraction is off in the whole project,
/// and an explicit std::fma is one instruction or libm's exact function. Its file is compiled with -O3
/// (models/CMakeLists.txt), which vectorises it.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define HYDRA_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HYDRA_VECTOR_CLONES
#endif
