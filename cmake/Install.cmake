# Installs the libraries, the headers under include/hydra/ and the package: find_package(Hydra), target hydra::hydra.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_RPATH "${HYDRA_TORCH_FOLDER}/lib" "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/hydra")  # Hydra's own plug-ins

# <hydra/hydra.hpp> is the public interface, in the build tree as well as installed; the others are for plug-ins.
foreach(_header session/hydra plugin/plugin plugin/policy_actor)
  get_filename_component(_name ${_header} NAME)
  file(CONFIGURE OUTPUT include/hydra/${_name}.hpp CONTENT "#pragma once\n\n#include \"actors/${_header}.hpp\"\n")
endforeach()
include(ReachedHeaders)
include(Interfaces)
configure_file(cmake/version.hpp.in include/hydra/version.hpp @ONLY)
configure_file(cmake/own_plugins.hpp.in include/hydra/own_plugins.hpp @ONLY)

get_property(_libraries GLOBAL PROPERTY HYDRA_LIBRARIES)
add_library(hydra_everything INTERFACE)
add_library(hydra::hydra ALIAS hydra_everything)
set_target_properties(hydra_everything PROPERTIES EXPORT_NAME hydra)
target_link_libraries(hydra_everything INTERFACE hydra_actors)
target_link_options(hydra_everything INTERFACE -rdynamic  # plug-ins find in the program what is not in a header
  "$<BUILD_INTERFACE:-Wl,-rpath,${PROJECT_BINARY_DIR}/lib/hydra>"  # and the program finds Hydra's own plug-ins here
  "$<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/hydra>")

# For plug-ins: headers only. Torch and CAF are available to those that use them, too (hydra::torch, CAF::core).
add_library(hydra_plugin INTERFACE)
add_library(hydra::plugin ALIAS hydra_plugin)
set_target_properties(hydra_plugin PROPERTIES EXPORT_NAME plugin)
target_compile_features(hydra_plugin INTERFACE cxx_std_20)
target_include_directories(hydra_plugin INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
  "$<INSTALL_INTERFACE:include>" "$<INSTALL_INTERFACE:include/hydra>")

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/Hydra")
install(TARGETS ${_libraries} hydra_everything hydra_plugin EXPORT HydraTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT HydraTargets NAMESPACE hydra:: DESTINATION "${_package}")
# Of the headers those that programs (examples/one_step.cpp: the pure classes), layers, plug-ins and conformance suites
# include, directly or not.
file(GLOB _named CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests/conformance/*.hpp"
  "${PROJECT_SOURCE_DIR}/models/layers/*.hpp" "${PROJECT_SOURCE_DIR}/models/losses/*.hpp")
hydra_reached_headers(_public actors/session/hydra.hpp ${_interfaces} ${_named}
  models/dropout.hpp models/weights/digest.hpp partition/checkpoint/checkpoint_weights.hpp
  partition/execute/kept_parameters.hpp runtime/memory/block_copy.hpp tests/models/numeric.hpp)
foreach(_header IN LISTS _public)
  get_filename_component(_folder ${_header} DIRECTORY)
  install(FILES ${_header} DESTINATION include/hydra/${_folder})
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/include/hydra" DESTINATION include)
configure_package_config_file(cmake/HydraConfig.cmake.in HydraConfig.cmake INSTALL_DESTINATION "${_package}")
write_basic_package_version_file(HydraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/HydraConfig.cmake" "${PROJECT_BINARY_DIR}/HydraConfigVersion.cmake"
  cmake/Torch.cmake cmake/Dependencies.cmake DESTINATION "${_package}")
