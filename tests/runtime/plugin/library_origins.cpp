#include "runtime/plugin/library_origins.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("a library of CUDA comes from a package or the driver; the origin of another is not known", "[plugin]") {
  CHECK(library_origin("libcudnn.so.9") == "PyPI package nvidia-cudnn-cu13");
  CHECK(library_origin("libcusparseLt.so.0") == "PyPI package nvidia-cusparselt-cu13");
  CHECK(library_origin("libcuda.so.1") == "the NVIDIA driver");
  CHECK(library_origin("libcud").empty());
}
