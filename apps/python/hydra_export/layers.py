"""The layers between the cuts: the calls of each, and what crosses each boundary."""
import dataclasses

from .cuts import SAMPLES, bytes_of
from .sizes import sources


@dataclasses.dataclass
class Layer:
    """calls: indices, ascending. inputs, outputs: names of values, in the order in which a boundary holds them."""
    calls: list
    inputs: list
    outputs: list


class Layers:
    """Divides a graph at its cuts. What a layer needs of the module's inputs is carried over the boundaries either as it came
    in or as side calls have made it, whichever is fewer bytes; what depends on constants alone is made again."""

    def __init__(self, graph, dependencies, cuts):
        self.graph, self.dependencies, self.cuts = graph, dependencies, cuts
        self.known = {}
        self.ends = [*cuts.chosen, len(cuts.order) - 1]
        starts = [0, *(k + 1 for k in cuts.chosen)]
        self.pieces = [cuts.order[a:b + 1] for a, b in zip(starts, self.ends)]
        self.carried = self.choose_carried()
        self.layers = self.make()

    # -- side calls ----------------------------------------------------------------------------------------------------

    def slice_for(self, wanted, given):
        """The side calls that make the values `wanted`, pairs of a name and the call that reads it, out of constants and the
        values `given`; and which of `given` and of the module's inputs they or the reader need."""
        calls, reached, todo = set(), set(), list(wanted)
        while todo:
            name, reader = todo.pop()
            if name in given:
                reached.add(name)
                continue
            makers = list(self.dependencies.writers_of(name, reader))
            if name in self.dependencies.producer:
                makers.append(self.dependencies.producer[name])
            elif self.graph.values[name].kind == "input":
                reached.add(name)
            for i in makers:
                if i not in calls:
                    calls.add(i)
                    todo.extend((read, i) for read in self.graph.calls[i].reads())
        return calls, reached

    def side_reads(self, calls):
        return [(name, i) for i in calls for name in self.graph.calls[i].reads() if self.dependencies.is_side(name)]

    def inputs_behind(self, name):
        """The module's inputs that a side value depends on."""
        if name not in self.known:
            self.known[name] = self.slice_for([(name, len(self.graph.calls))], set())[1]
        return self.known[name]

    # -- what is carried ---------------------------------------------------------------------------------------------

    def choose_carried(self):
        """For each piece what it needs of the inputs: as made by side calls, or raw."""
        made = [{name for name, _ in self.side_reads(piece) if self.inputs_behind(name)} for piece in self.pieces]
        raw = [set().union(*(self.inputs_behind(name) for name in names)) for names in made]
        possible = all(self.can_carry(name) for names in made for name in names)
        return made if possible and self.carried_bytes(made) < self.carried_bytes(raw) else raw

    def can_carry(self, name):
        value = self.graph.values[name]
        return value.dense and not any(sources(size) for size in value.shape) and not self.dependencies.writers_of(name)

    def carried_bytes(self, needs):
        return sum(bytes_of(self.graph.values[name], SAMPLES) for n in range(1, len(needs)) for name in self.later(needs, n))

    @staticmethod
    def later(needs, first):
        return set().union(*needs[first:])

    # -- layers --------------------------------------------------------------------------------------------------------

    def make(self):
        layers = []
        for n, piece in enumerate(self.pieces):
            inputs = layers[-1].outputs if layers else list(self.graph.inputs)
            last = n + 1 == len(self.pieces)
            main = [self.graph.output] if last else self.cuts.live[self.ends[n]]
            side = [] if last else sorted(self.later(self.carried, n + 1) - set(main), key=self.position)
            wanted = self.side_reads(piece) + [(name, len(self.graph.calls)) for name in main + side
                                               if self.dependencies.is_side(name)]
            calls, _ = self.slice_for(wanted, set(inputs))
            layers.append(Layer(sorted(calls | set(piece)), inputs, main + side))
        return layers

    def position(self, name):
        """Inputs in their order, then values in the order in which they are made."""
        if name in self.graph.inputs:
            return (0, self.graph.inputs.index(name))
        return (1, self.dependencies.producer[name])
