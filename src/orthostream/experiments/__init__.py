"""Every figure and table of the paper's section V, by one command."""

from orthostream.experiments.outcome import Claim, Experiment, Outcome, Verdict
from orthostream.experiments.plan import Plan, SensorReadings
from orthostream.experiments.record import Record
from orthostream.experiments.reproduction import EXPERIMENTS, Reproduction, reproduce

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Experiment",
    "Outcome",
    "Plan",
    "Record",
    "Reproduction",
    "SensorReadings",
    "Verdict",
    "reproduce",
]
