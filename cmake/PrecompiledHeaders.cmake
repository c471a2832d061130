# hydra_precompile(TARGET KIND)   compiles the target with the precompiled headers of that kind; the first target of a kind
#                                 makes them, and those after it must be compiled with the same flags
# They contain only headers of other projects, so that no change of Hydra's own files recompiles them (but for actor_tests, whose
# sources all include the two that take longest); headers that cost every source more than they save are left out
# (nlohmann/json, CLI11). A source still includes what it uses: a build
# with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON checks that.
set(HYDRA_PRECOMPILED_STANDARD <algorithm> <array> <chrono> <cmath> <cstdint> <deque> <filesystem> <fstream> <functional> <map>
  <memory> <mutex> <numeric> <optional> <ranges> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map>
  <utility> <variant> <vector>)
set(HYDRA_PRECOMPILED_runtime ${HYDRA_PRECOMPILED_STANDARD} <fmt/format.h> <spdlog/spdlog.h>)
set(HYDRA_PRECOMPILED_torch ${HYDRA_PRECOMPILED_runtime} <ATen/core/Tensor.h>)
set(HYDRA_PRECOMPILED_actors ${HYDRA_PRECOMPILED_runtime} <caf/actor_system.hpp> <caf/actor_system_config.hpp>
  <caf/allowed_unsafe_message_type.hpp> <caf/send.hpp> <caf/typed_actor.hpp> <caf/typed_event_based_actor.hpp>)
set(HYDRA_PRECOMPILED_tests ${HYDRA_PRECOMPILED_runtime} <catch2/catch.hpp>)
set(HYDRA_PRECOMPILED_tensor_tests ${HYDRA_PRECOMPILED_torch} <catch2/catch.hpp>)
set(HYDRA_PRECOMPILED_actor_tests ${HYDRA_PRECOMPILED_actors} "${PROJECT_SOURCE_DIR}/actors/simulation/simulation.hpp"
  "${PROJECT_SOURCE_DIR}/actors/session/hydra.hpp" <catch2/catch.hpp>)

# Tests that include more of LibTorch than tensors go without: its log defines a macro CHECK, too, the later definition
# holds, and Catch's would come first.
function(hydra_without_precompiled)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" includes REGEX "^#include <(ATen|c10|torch)/")
    list(FILTER includes EXCLUDE REGEX "<ATen/core/Tensor.h>")
    if(includes)
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

function(hydra_precompile target kind)
  get_property(owner GLOBAL PROPERTY HYDRA_PRECOMPILED_${kind}_OWNER)
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE ${HYDRA_PRECOMPILED_${kind}})
    set_property(GLOBAL PROPERTY HYDRA_PRECOMPILED_${kind}_OWNER ${target})
  endif()
endfunction()
