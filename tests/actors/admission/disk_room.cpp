#include "actors/admission/disk_room.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;

namespace {

/// Two new models of 10 MiB, one of which keeps its best state, and one that is resumed.
const std::vector<model_room> some_rooms{{.size = 10_MiB, .kept = 2},
                                         {.size = 10_MiB, .kept = 3},
                                         {.size = 4_MiB, .kept = 2, .there = 4_MiB}};

}  // namespace

TEST_CASE("checkpoints need room for those that are kept and for one that is written, less what is there") {
  const auto room = room_of(some_rooms, 1_GiB);
  CHECK(room.first == 20_MiB);
  CHECK(room.most == 64_MiB);
  const std::vector<model_room> much_there{{.size = 1_MiB, .kept = 2, .there = 8_MiB}};
  CHECK(room_of(much_there, {}).most == 1_MiB);
}

TEST_CASE("a run without room for the first checkpoints is refused, and warned where later ones may not find any") {
  CHECK(check_room(room_of(some_rooms, 64_MiB), "runs/w") == "");
  CHECK(check_room(room_of(some_rooms, std::nullopt), "runs/w") == "");
  CHECK_THAT(check_room(room_of(some_rooms, 20_MiB), "runs/w"),
             Contains("checkpoints of 3 models may need up to 64.0 MiB") &&
                 Contains("the file system of \"runs/w\" has 20.0 MiB free") && Contains("run.checkpoint.keep"));
  try {
    check_room(room_of(some_rooms, byte_count{(20_MiB).value() - 1}), "runs/w");
    FAIL("it was not refused");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::does_not_fit);
    CHECK_THAT(e.what(), Contains("the first checkpoints of 3 models need 20.0 MiB"));
  }
}
