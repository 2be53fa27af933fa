"""Progress of tasks on other machines: what they tell, and who has fallen silent."""

import math
import time


class Pulse:
    """Hear of progress. It lives on the cluster: tasks tell it of their steps, the driver asks what it heard."""

    def __init__(self) -> None:
        self.told: dict[str, tuple[int, int]] = {}

    def tell(self, name: str, steps: int) -> None:
        """Take the steps of a population so far; the first word of a task is 0."""
        self.told[name] = (self.told.get(name, (0, 0))[0] + 1, steps)

    def heard(self) -> dict[str, tuple[int, int]]:
        """Return, by name, how often a population has told and its steps."""
        return self.told


class Listener:
    """Remember, by the driver's clock, when each population last told of something new.

    A population that waits for a free worker has told nothing yet, and is not silent.

    Args:
        silence: Seconds without a word after which a population is taken to hang.
    """

    def __init__(self, silence: float) -> None:
        self.silence = silence
        self._last: dict[str, tuple[tuple[int, int], float]] = {}

    def listen(self, told: dict[str, tuple[int, int]]) -> dict[str, int]:
        """Take what a :class:`Pulse` heard; return the steps of those with news."""
        news = {name: word for name, word in told.items() if self._last.get(name, (None,))[0] != word}
        self._last |= {name: (word, time.monotonic()) for name, word in news.items()}
        return {name: steps for name, (_, steps) in news.items()}

    def forget(self, name: str) -> None:
        """Wait for the first word of another attempt."""
        if name in self._last:
            self._last[name] = (self._last[name][0], math.inf)

    def silent(self) -> list[str]:
        """Name the populations that have begun and tell nothing any more."""
        now = time.monotonic()
        return [name for name, (_, when) in self._last.items() if now - when >= self.silence]
