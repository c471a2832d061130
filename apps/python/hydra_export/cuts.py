"""Where the chain is cut: positions between main calls that few bytes cross."""
import math

from .scalar_types import BYTES, TRAINED
from .sizes import evaluated, sources

MOST_LIVE = 4          # values that cross a cut
LARGEST_SHARE = 1 / 8  # of the weight, in one piece, before cuts that more than one value crosses are considered
DEAREST = 3            # times the bytes at the ends of a piece, for such a cut
SAMPLES = 4            # for which bytes are counted


def bytes_of(value, samples):
    return BYTES[value.type] * math.prod(evaluated(size, samples) for size in value.shape)


class Cuts:
    """order: the main calls that the output needs. live[k]: values that are needed after main call k and made by main calls up
    to it. chosen: the k after which the chain is cut, ascending."""

    def __init__(self, graph, dependencies):
        self.graph, self.dependencies = graph, dependencies
        self.order = [i for i in range(len(graph.calls)) if dependencies.main[i] and i in dependencies.alive]
        self.live = self.find_live()
        self.costs = [sum(bytes_of(graph.values[v], SAMPLES) for v in live) for live in self.live]
        self.legal = [self.is_legal(k) for k in range(len(self.live))]
        self.heavy = [k for k, i in enumerate(self.order) if self.is_heavy(graph.calls[i])]
        self.weights = self.find_weights()
        self.chosen = sorted(self.divide(0, len(self.order), 1))

    def find_live(self):
        born, last = {}, {}
        for k, i in enumerate(self.order):
            call = self.graph.calls[i]
            born.update((name, k) for name in call.out if name)
            last.update((name, k) for name in call.reads() if name in born)
        if self.graph.output in born:
            last[self.graph.output] = len(self.order)
        live = [[] for _ in self.order[1:]]
        for name, end in last.items():
            for k in range(born[name], min(end, len(live))):
                live[k].append(name)
        return [sorted(names, key=born.get) for names in live]

    def is_heavy(self, call):
        """A call with a matrix, or more, among its parameters."""
        kinds = [self.graph.values[name] for name in call.reads()]
        return any(value.kind == "parameter" and len(value.shape) >= 2 for value in kinds)

    def find_weights(self):
        """For each main call the bytes of its parameters (value, gradient and copy) and of what it makes."""
        seen, weights = set(), []
        for i in self.order:
            call = self.graph.calls[i]
            new = {name for name in call.reads() if self.graph.values[name].kind == "parameter"} - seen
            seen |= new
            made = [name for name in call.out if name and self.graph.root(name) == name]
            weights.append(3 * sum(bytes_of(self.graph.values[name], 1) for name in new) +
                           sum(bytes_of(self.graph.values[name], SAMPLES) for name in made))
        return weights

    def is_legal(self, k):
        """Whether a boundary can hold what crosses: nothing that is still written, of a size that depends on data, or that a
        boundary would not restore as it lay in memory."""
        for name in self.live[k]:
            value = self.graph.values[name]
            if any(i > self.order[k] for i in self.dependencies.writers_of(name)):
                return False
            if not value.dense or any(sources(size) for size in value.shape):
                return False
            if value.gradient is not None and value.type not in TRAINED:
                return False
        return True

    def divide(self, first, end, most):
        """Cuts strictly inside of the main calls [first, end) that at most `most` values cross; a piece that stays large is
        divided again by cuts that one more value crosses."""
        heavy = [k for k in self.heavy if first <= k < end]
        at_ends = min((self.costs[k] for k in (first - 1, end - 1) if 0 <= k < len(self.live)), default=math.inf)
        found = []
        for left, right in zip(heavy, heavy[1:]):
            possible = [k for k in range(left, right) if self.legal[k] and len(self.live[k]) <= most]
            best = min(possible, key=lambda k: (self.costs[k], -k), default=None)
            if best is not None and (most == 1 or self.costs[best] <= DEAREST * at_ends):
                found.append(best)
        return found + self.divide_large(first, end, found, most)

    def divide_large(self, first, end, found, most):
        ends = [first - 1, *found, end - 1]
        more = []
        for left, right in zip(ends, ends[1:] if most < MOST_LIVE else []):
            heavy = [k for k in self.heavy if left < k <= right]
            if len(heavy) > 1 and sum(self.weights[left + 1:right + 1]) > LARGEST_SHARE * sum(self.weights):
                more += self.divide(left + 1, right + 1, most + 1)
        return more
