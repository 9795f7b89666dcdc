"""What every codec can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from orthostream._typing import FloatArray

#: Kinds of payload: readings; a whole dictionary; a change of what both sides hold: the way from the last dictionary to
#: the next or, in the conditional codec, lattices of sensors.
READINGS, DICTIONARY, UPDATE = 0, 1, 2
#: Maximum number of readings per byte of a payload, so that a few hostile bytes cannot ask for endless work.
MOST_READINGS_PER_BYTE = 128


class Payload(NamedTuple):
    """Bytes that one side encodes and the other decodes."""

    kind: int
    body: bytes


class SharedDictionary(NamedTuple):
    """A dictionary that both sides hold, and how many were sent before it and with it."""

    epoch: int
    components: FloatArray


class Codec(ABC):
    """A state that both sides hold alike, and that turns samples into payloads and payloads into samples.

    `encode` on one side and `decode` on the other move equal states to equal states. After either has raised, the state
    is undefined until `restart`.
    """

    #: Sensors in a sample.
    n_sensors: int
    #: Samples that one call of `encode` takes at most.
    most_samples: int = 1 << 17
    #: Whether starting again would make what follows smaller.
    wants_restart: bool = False
    #: What payloads that change something bring, for reports.
    update_component: ClassVar[str] = "dictionary"

    def component(self, kind: int) -> str:
        """Return what payloads of a kind bring, for reports."""
        return "readings" if kind == READINGS else self.update_component if kind == UPDATE else "dictionary"

    def most_first_samples(self, rows: FloatArray) -> int:
        """Return how many of some samples `encode` should take at most after a restart."""
        return self.most_samples

    @abstractmethod
    def encode(self, rows: FloatArray) -> list[Payload]:
        """Return what the other side needs in order to know some samples, NaN where a reading is missing.

        What brings a dictionary comes first, then one payload of readings. Zeros at its end must mean nothing: they may
        be added on the way.
        """

    @abstractmethod
    def decode(self, payload: Payload) -> FloatArray:
        """Return the samples of a payload, none if it brings a dictionary; raise FrameError if it is corrupt."""

    @property
    @abstractmethod
    def digest(self) -> int:
        """32 bits that tell one state from another, made of the integers that both sides hold."""

    @property
    def bits(self) -> dict[str, float]:
        """Bits spent on each component since the last restart, for reports."""
        return {}

    @property
    def basis(self) -> str:
        """The basis in which readings are coded, for reports."""
        return "sensors"

    @property
    def dictionary(self) -> SharedDictionary | None:
        """The dictionary that both sides hold, for reports; None if the codec has none to show."""
        return None

    @property
    def frank_wolfe_gap(self) -> float | None:
        """How far a dictionary that is being learnt is from a stationary point; None where nothing is learnt.

        On the last mini-batch, as a share of the nuclear norm of the gradient: from 0, stationary, to 2.
        """
        return None

    @abstractmethod
    def restart(self) -> None:
        """Return to the state of a new codec."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that was learnt since the last restart, on either side.

        Integers, floats, strings, booleans, None, lists and dicts of them, and arrays of int64, float64 and uint8.
        """

    @abstractmethod
    def set_state(self, state: dict[str, Any]) -> None:
        """Take over the state of a codec with the same parameters, whichever side it was on.

        What only the side that encodes knows starts afresh if the state comes from the other side. A state that does
        not fit raises ValueError or FrameError, and leaves the codec undefined until `restart`.
        """
