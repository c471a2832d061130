// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

int main(int argc, char** argv) { return hydra::apps::run_program(argc, argv); }
