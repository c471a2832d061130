// Linked into test binaries that compute with tensors: one intra-op thread, as the numerics contract says, also when
// the binary is started by hand.

#include <ATen/Parallel.h>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

namespace {

struct one_thread : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override { at::set_num_threads(1); }
};

}  // namespace

CATCH_REGISTER_LISTENER(one_thread)
