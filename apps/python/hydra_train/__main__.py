"""python -m hydra_train: the command `hydra`."""
from hydra_train.launcher import main

main()
