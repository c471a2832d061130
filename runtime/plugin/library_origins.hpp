#pragma once
// Where to get the shared libraries that a CUDA plug-in needs. Standard library only: it is used where none of them is
// installed.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace hydra {

/// "PyPI package nvidia-cudnn-cu13" for "libcudnn.so.9"; empty for a library that is not known.
inline std::string library_origin(std::string_view library) {
  struct origin {
    std::string_view library, from;
  };
  constexpr std::array known{  // the packages are those that LibTorch's wheel for CUDA 13 names
      origin{"libcublas", "PyPI package nvidia-cublas"},
      origin{"libcublasLt", "PyPI package nvidia-cublas"},
      origin{"libcuda", "the NVIDIA driver"},
      origin{"libcudart", "PyPI package nvidia-cuda-runtime"},
      origin{"libcudnn", "PyPI package nvidia-cudnn-cu13"},
      origin{"libcufft", "PyPI package nvidia-cufft"},
      origin{"libcufile", "PyPI package nvidia-cufile"},
      origin{"libcupti", "PyPI package nvidia-cuda-cupti"},
      origin{"libcurand", "PyPI package nvidia-curand"},
      origin{"libcusolver", "PyPI package nvidia-cusolver"},
      origin{"libcusparse", "PyPI package nvidia-cusparse"},
      origin{"libcusparseLt", "PyPI package nvidia-cusparselt-cu13"},
      origin{"libnccl", "PyPI package nvidia-nccl-cu13"},
      origin{"libnvidia-ml", "the NVIDIA driver"},
      origin{"libnvJitLink", "PyPI package nvidia-nvjitlink"},
      origin{"libnvrtc", "PyPI package nvidia-cuda-nvrtc"},
      origin{"libnvshmem_host", "PyPI package nvidia-nvshmem-cu13"}};
  const auto found = std::ranges::find(known, library.substr(0, library.find(".so")), &origin::library);
  return found == known.end() ? std::string{} : std::string{found->from};
}

}  // namespace hydra
