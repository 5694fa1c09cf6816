"""The rows of docs/performance.md: a comparison of ferry with a peer, or a figure of ferry alone, with its goal."""

import dataclasses
import statistics


@dataclasses.dataclass
class Row:
    """One comparison, which was measured several times."""

    work: str
    quantity: str  # what is compared: rate, CPU time, elapsed time, peak memory
    values: list[float]  # one for each pair of runs
    peer: str = ""  # if it is empty, the values are not ratios but figures in `unit`
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def goal(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}{self.suffix}"
        return f"≤ {self.at_most:g}{self.suffix}" if self.at_most is not None else ""

    @property
    def suffix(self) -> str:
        return f" {self.unit}" if self.unit else ""

    @property
    def is_met(self) -> bool | None:
        """None if there is no goal."""
        if self.at_least is not None:
            return self.median >= self.at_least
        return self.median <= self.at_most if self.at_most is not None else None

    def number(self, value: float) -> str:
        return f"{value:.0f}" if value >= 100 else f"{value:.2f}"

    @property
    def text(self) -> str:
        """The median, and the range if there are several values: `1.05 (0.98–1.11)`."""
        spread = f" ({self.number(min(self.values))}–{self.number(max(self.values))})" if len(self.values) > 1 else ""
        return self.number(self.median) + self.suffix + spread


class Rows:
    """The rows in the order in which they were measured. Each is printed when it is added.

    Without `judged`, goals are left out, because the work is too small to compare the figures with them.
    """

    def __init__(self, judged: bool = True) -> None:
        self.all: list[Row] = []
        self.judged = judged

    def add(self, work: str, quantity: str, values: list[float], **rest) -> None:
        goals = ("at_least", "at_most")
        row = Row(work, quantity, values, **{key: rest[key] for key in rest if self.judged or key not in goals})
        self.all.append(row)
        verdict = {True: "met", False: "NOT met", None: ""}[row.is_met]
        goal = f", goal {row.goal}: {verdict}" if row.goal else ""
        print(f"{row.work}: {row.quantity}{' / ' + row.peer if row.peer else ''} {row.text}{goal}", flush=True)

    def compare(self, work: str, peer: str, pairs: list[tuple], rate: float | None = None,
                cpu: float | None = None) -> None:
        """Adds a row for the rate and one for the CPU time. A pair is two usages: ferry's and the peer's."""
        self.add(work, "rate", [other.seconds / ferry.seconds for ferry, other in pairs], peer=peer, at_least=rate)
        self.add(work, "CPU time", [ferry.cpu / other.cpu for ferry, other in pairs], peer=peer, at_most=cpu)
