# Everything the libraries need; used by the build and by the installed package.
include("${CMAKE_CURRENT_LIST_DIR}/Torch.cmake")
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)  # SHA-256; connections of a cluster
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(GIF REQUIRED)
find_package(TIFF 4.5 REQUIRED)
find_package(ZLIB REQUIRED)

# libcsv has no CMake package.
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
mark_as_advanced(CSV_INCLUDE_DIR CSV_LIBRARY)
if(NOT TARGET CSV::CSV)
  add_library(CSV::CSV UNKNOWN IMPORTED)
  set_target_properties(CSV::CSV PROPERTIES
    IMPORTED_LOCATION "${CSV_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CSV_INCLUDE_DIR}")
endif()

# CAF 0.17 has no CMake package.
find_path(CAF_INCLUDE_DIR caf/config.hpp REQUIRED)
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
find_library(CAF_IO_LIBRARY caf_io REQUIRED)
find_library(CAF_OPENSSL_LIBRARY caf_openssl REQUIRED)
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY CAF_OPENSSL_LIBRARY)
file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" CAF_VERSION REGEX "define CAF_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" CAF_VERSION_NUMBER "${CAF_VERSION}")
math(EXPR _major "${CAF_VERSION_NUMBER} / 10000")
math(EXPR _minor "${CAF_VERSION_NUMBER} / 100 % 100")
math(EXPR _patch "${CAF_VERSION_NUMBER} % 100")
set(CAF_VERSION "${_major}.${_minor}.${_patch}")
if(NOT CAF_VERSION MATCHES "^0[.]17[.]")
  message(FATAL_ERROR "CAF 0.17 is needed, ${CAF_INCLUDE_DIR} has ${CAF_VERSION}")
endif()
if(NOT TARGET CAF::core)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  add_library(CAF::io UNKNOWN IMPORTED)
  set_target_properties(CAF::io PROPERTIES IMPORTED_LOCATION "${CAF_IO_LIBRARY}" INTERFACE_LINK_LIBRARIES CAF::core)
  add_library(CAF::openssl UNKNOWN IMPORTED)
  set_target_properties(CAF::openssl PROPERTIES IMPORTED_LOCATION "${CAF_OPENSSL_LIBRARY}" INTERFACE_LINK_LIBRARIES CAF::io)
endif()

# stb_image is a header.
find_path(STB_INCLUDE_DIR stb/stb_image.h REQUIRED)
mark_as_advanced(STB_INCLUDE_DIR)
if(NOT TARGET stb::stb)
  add_library(stb::stb INTERFACE IMPORTED)
  set_target_properties(stb::stb PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${STB_INCLUDE_DIR}")
endif()

# Found by their files, because not every package of them has CMake files.
foreach(_library "PCRE2::8bit pcre2.h pcre2-8" "utf8proc::utf8proc utf8proc.h utf8proc"
    "sentencepiece::sentencepiece sentencepiece_processor.h sentencepiece" "WebP::demux webp/demux.h webpdemux")
  separate_arguments(_library)
  list(GET _library 0 _target)
  list(GET _library 1 _header)
  list(GET _library 2 _file)
  string(MAKE_C_IDENTIFIER "${_file}" _name)
  string(TOUPPER "${_name}" _name)
  find_path(${_name}_INCLUDE_DIR "${_header}" REQUIRED)
  find_library(${_name}_LIBRARY "${_file}" REQUIRED)
  mark_as_advanced(${_name}_INCLUDE_DIR ${_name}_LIBRARY)
  if(NOT TARGET ${_target})
    add_library(${_target} UNKNOWN IMPORTED)
    set_target_properties(${_target} PROPERTIES
      IMPORTED_LOCATION "${${_name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${_name}_INCLUDE_DIR}")
  endif()
endforeach()
