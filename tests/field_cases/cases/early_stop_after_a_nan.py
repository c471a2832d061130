"""Early stopping when losses are not numbers

Reports: optuna/optuna#6092; Lightning's EarlyStopping has check_finite for it.
Right: all evaluations are NaN: the model ends after the patience, nothing is kept as best, and the run says so.
Passes: at most 16 steps, and `hydra evaluate --best` says that no evaluation was finite; of a run without keep_best it
does not.
"""
from outputs import reported, says

WORKLOAD = """
[data.d]
kind = "synthetic-classes"
samples = 256
validation_samples = 64

[[model]]
name = "m"
chain = { family = "mlp", width = 16 }
data = "d"
batch_size = 16
steps = 40
on_nan = "ignore"
optimizer = { kind = "sgd", learning_rate = 1e30 }
validate = { every_steps = 4, keep_best = true }

[[controller]]
kind = "early-stop"
patience = 3
"""
NOT_FINITE = r"finite|\bnan\b|not a number"


def case(hydra):
    train, best = hydra.train(), hydra("evaluate run --best")
    steps = len(reported("run"))
    yield train.status in (0, 1) and 0 < steps <= 16, f"{steps} steps", "at most 16: the patience is 3 evaluations of 4 steps"
    yield best.status != 0 and says(best.text, NOT_FINITE), "--best: " + best.brief(), "no evaluation was finite"
    train = hydra.train("run-plain", "model.optimizer.learning_rate=0.01", "model.validate.keep_best=false")
    best = hydra("evaluate run-plain --best")
    yield (train.status == 0 and best.status != 0 and not says(best.text, NOT_FINITE),
           "finite, without keep_best: " + best.brief(), "refused for another reason")
