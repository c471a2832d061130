#include "tests/apps/commands/hydra_program.hpp"

#include "tests/apps/commands/forked_program.hpp"
#include "tests/support/places.hpp"

#include <sys/wait.h>
#include <wordexp.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace hydra::apps {

namespace {

std::vector<std::string> words_of(const std::string& arguments) {
  wordexp_t words{};
  if (::wordexp(arguments.c_str(), &words, WRDE_NOCMD) != 0) {
    throw std::runtime_error("not a list of arguments: " + arguments);
  }
  const std::unique_ptr<wordexp_t, void (*)(wordexp_t*)> freed(&words, &::wordfree);
  return {words.we_wordv, words.we_wordv + words.we_wordc};
}

}  // namespace

outcome run_hydra(const temporary_folder& folder, const std::string& arguments) {
  return run_hydra_with_threads(folder, arguments, -1);
}

outcome run_hydra_with_threads(const temporary_folder& folder, const std::string& arguments, int threads) {
  const temporary_folder streams;
  const int status = run_forked({.folder = folder.path(),
                                 .arguments = words_of(arguments),
                                 .out = streams.path() / "out",
                                 .err = streams.path() / "err",
                                 .threads = threads});
  return {status < 1000 ? status : -1, streams.read("out"), streams.read("err")};
}

outcome start_hydra(const temporary_folder& folder, const std::string& arguments, const std::string& before) {
  const temporary_folder streams;
  const std::string out = (streams.path() / "out").string(), err = (streams.path() / "err").string();
  const std::string line = "cd '" + folder.path().string() + "' && " + before + "'" HYDRA_PROGRAM "' " + arguments +
                           " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, streams.read("out"), streams.read("err")};
}

outcome run_hydra_with_streams(const temporary_folder& folder, const std::string& arguments,
                               const std::string& streams) {
  return start_hydra(folder, arguments + " " + streams + "; }", "{ ");
}

std::string with_small_files(int blocks) { return "ulimit -f " + std::to_string(blocks) + "; "; }

}  // namespace hydra::apps
