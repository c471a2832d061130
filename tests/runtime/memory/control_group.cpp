#include "runtime/memory/control_group.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Version 2 at the root, version 1 in memory/.
struct groups : temporary_folder {
  std::filesystem::path root = path() / "cgroup";

  void unified(const std::string& group, const std::string& limit, const std::string& used,
               const std::string& inactive) const {
    write("cgroup/" + group + "/memory.max", limit + "\n");
    write("cgroup/" + group + "/memory.current", used + "\n");
    write("cgroup/" + group + "/memory.stat", "anon 5\nfile 900\ninactive_file " + inactive + "\nactive_file 7\n");
  }
  std::optional<std::uint64_t> left(const std::string& lines) const {
    return memory_left_in_groups(write("self", lines), root);
  }
};

}  // namespace

TEST_CASE("a group leaves its limit minus its working set: inactive file pages are free") {
  const groups g;
  g.unified("", "1000", "900", "600");
  CHECK(g.left("0::/\n") == 700);
  g.unified("", "1000", "1200", "0");
  CHECK(g.left("0::/\n") == 0);
}

TEST_CASE("a group below the root is found, and its parent may leave less") {
  const groups g;
  g.unified("system.slice/train.service", "5000", "1000", "0");
  CHECK(g.left("0::/system.slice/train.service\n") == 4000);
  g.unified("system.slice", "3000", "2500", "0");
  CHECK(g.left("0::/system.slice/train.service\n") == 500);
}

TEST_CASE("version 1 of control groups has a separate memory controller") {
  const groups g;
  g.write("cgroup/memory/job/memory.limit_in_bytes", "4000");
  g.write("cgroup/memory/job/memory.usage_in_bytes", "3000");
  g.write("cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  CHECK(g.left("5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n") == 1500);
}

TEST_CASE("without a limit the result is empty") {
  const groups g;
  g.unified("a", "max", "10", "0");
  CHECK_FALSE(g.left("0::/a\n"));
  CHECK_FALSE(g.left(""));
  CHECK_FALSE(memory_left_in_groups(g.path() / "none", g.root));
}
