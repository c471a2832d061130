# Finds LibTorch 2.11 and defines hydra::torch. TorchConfig.cmake of the wheel is not used: it requires a CUDA toolkit
# and links every NVIDIA library. `cmake -P cmake/Torch.cmake` only reports where it is, or fails (apps/setup uses
# that). An installed Hydra takes only the release that it was built with: the classes of LibTorch that its libraries, and
# plug-ins, share with the program have the layout of that release.
set(_series 2.11)
if(_hydra_built_with)
  set(_series "${_hydra_torch_release}")
endif()
set(HYDRA_TORCH "" CACHE PATH "LibTorch ${_series}: the folder with lib/libtorch_cpu.so (empty: python3's, then build/deps/torch)")
if(NOT "$ENV{HYDRA_TORCH}" STREQUAL "")  # into the cache, so that a later reconfigure stays with it
  set(HYDRA_TORCH "$ENV{HYDRA_TORCH}" CACHE PATH "" FORCE)
endif()

set(_places "${HYDRA_TORCH}")
if(NOT HYDRA_TORCH)
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(*getattr(u.find_spec('torch'), 'submodule_search_locations', []), sep=';')"
    OUTPUT_VARIABLE _places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)  # not imported: that would take seconds
  list(APPEND _places "${CMAKE_CURRENT_LIST_DIR}/../build/deps/torch" ${_hydra_built_with})
endif()

set(HYDRA_TORCH_FOLDER "")
foreach(_place IN LISTS _places)
  if(HYDRA_TORCH_FOLDER OR NOT EXISTS "${_place}/lib/libtorch_cpu.so" OR NOT EXISTS "${_place}/version.py")
    continue()
  endif()
  file(STRINGS "${_place}/version.py" _line REGEX "^__version__ *=" LIMIT_COUNT 1)
  string(REGEX REPLACE "^__version__ *=|[' \"]" "" HYDRA_TORCH_VERSION "${_line}")
  string(REGEX REPLACE "[+].*" "" HYDRA_TORCH_RELEASE "${HYDRA_TORCH_VERSION}")  # without "+cu130"
  if("${HYDRA_TORCH_RELEASE}." MATCHES "^${_series}[.]")
    get_filename_component(HYDRA_TORCH_FOLDER "${_place}" REALPATH)
  else()
    message(STATUS "LibTorch ${HYDRA_TORCH_VERSION} in ${_place} is passed over: ${_series} is needed")
  endif()
endforeach()
if(NOT HYDRA_TORCH_FOLDER)
  list(JOIN _places ", " _places)
  message(FATAL_ERROR "LibTorch ${_series} is missing (looked in ${_places}): run apps/setup, or set HYDRA_TORCH to its folder")
elseif(CMAKE_SCRIPT_MODE_FILE)
  message(STATUS "LibTorch ${HYDRA_TORCH_VERSION}: ${HYDRA_TORCH_FOLDER}")
  return()
endif()

if(NOT TARGET hydra::torch)
  foreach(_name c10 torch_cpu)
    add_library(hydra::${_name} SHARED IMPORTED)
    set_target_properties(hydra::${_name} PROPERTIES
      IMPORTED_LOCATION "${HYDRA_TORCH_FOLDER}/lib/lib${_name}.so" IMPORTED_SONAME "lib${_name}.so")
  endforeach()
  add_library(hydra::torch INTERFACE IMPORTED)
  # -idirafter: the wheel has its own fmt, glog and pybind11 headers, which must not hide the system's.
  target_compile_options(hydra::torch INTERFACE
    "SHELL:-idirafter \"${HYDRA_TORCH_FOLDER}/include\""
    "SHELL:-idirafter \"${HYDRA_TORCH_FOLDER}/include/torch/csrc/api/include\"")
  target_link_libraries(hydra::torch INTERFACE hydra::torch_cpu hydra::c10)
  # libtorch_cpu.so finds libcudart and libcupti through its own RPATH when it is loaded: the linker does not need them.
  target_link_options(hydra::torch INTERFACE -Wl,--allow-shlib-undefined)
endif()
