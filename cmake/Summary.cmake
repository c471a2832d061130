# What this build is made of, in a few lines.
foreach(_tool CCACHE_PROGRAM MOLD_PROGRAM)
  set(_${_tool} "no")
  if(${_tool})
    set(_${_tool} "${${_tool}}")
  endif()
endforeach()
if(MOLD_PROGRAM AND NOT HYDRA_LINKS_WITH_MOLD)
  set(_MOLD_PROGRAM "no (the compiler cannot use ${MOLD_PROGRAM})")
endif()
if(NOT HYDRA_PRESET)
  set(HYDRA_PRESET "none")
endif()
set(_cuda "plug-in not built: ${HYDRA_CUDA_MISSING}")
if(HYDRA_HAS_CUDA)
  set(_cuda "plug-in with nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${HYDRA_CUDA_ARCHITECTURES}")
endif()
message(STATUS "
  Hydra ${PROJECT_VERSION}
    preset    ${HYDRA_PRESET} (${CMAKE_BUILD_TYPE}) in ${PROJECT_BINARY_DIR}
    compiler  ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}
    LibTorch  ${HYDRA_TORCH_VERSION} in ${HYDRA_TORCH_FOLDER}
    CUDA      ${_cuda}
    CAF       ${CAF_VERSION}
    TBB       ${TBB_VERSION}
    spdlog    ${spdlog_VERSION}, fmt ${fmt_VERSION}
    ccache    ${_CCACHE_PROGRAM}
    mold      ${_MOLD_PROGRAM}
")
