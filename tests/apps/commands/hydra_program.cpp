#include "tests/apps/commands/hydra_program.hpp"

#include "tests/support/places.hpp"

#include <sys/wait.h>

#include <cstdlib>

namespace hydra::apps {

outcome run_hydra(const temporary_folder& folder, const std::string& arguments, const std::string& before) {
  const temporary_folder streams;
  const std::string out = (streams.path() / "out").string(), err = (streams.path() / "err").string();
  const std::string line =
      "cd '" + folder.path().string() + "' && " + before + "'" HYDRA_PROGRAM "' " + arguments + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, streams.read("out"), streams.read("err")};
}

outcome run_hydra_with_streams(const temporary_folder& folder, const std::string& arguments, const std::string& streams) {
  return run_hydra(folder, arguments + " " + streams + "; }", "{ ");
}

std::string with_small_files(int blocks) { return "trap '' XFSZ; ulimit -f " + std::to_string(blocks) + "; "; }

}  // namespace hydra::apps
