"""Every figure and table of the paper's section V, by one command; detectors of novel documents compared."""

from orthostream.experiments.novelty.date_order import DateOrder
from orthostream.experiments.novelty.introduced_topics import IntroducedTopics
from orthostream.experiments.novelty.novelty_method import NoveltyMethod
from orthostream.experiments.novelty_protocol import novelty_protocol
from orthostream.experiments.outcome import Claim, Experiment, Outcome, Verdict
from orthostream.experiments.plan import Plan, SensorReadings
from orthostream.experiments.record import Record
from orthostream.experiments.reproduction import EXPERIMENTS, Reproduction, reproduce

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "DateOrder",
    "Experiment",
    "IntroducedTopics",
    "NoveltyMethod",
    "Outcome",
    "Plan",
    "Record",
    "Reproduction",
    "SensorReadings",
    "Verdict",
    "novelty_protocol",
    "reproduce",
]
