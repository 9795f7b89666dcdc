"""Where an edge takes its samples from."""

from orthostream.link.sources.csv_file import CsvFileSource
from orthostream.link.sources.json_lines import JsonLinesSource
from orthostream.link.sources.mqtt_readings import MqttReadingsSource
from orthostream.link.sources.simulator import SimulatorSource
from orthostream.link.sources.source import Samples, Source
from orthostream.link.sources.tail import TailSource

__all__ = [
    "CsvFileSource",
    "JsonLinesSource",
    "MqttReadingsSource",
    "Samples",
    "SimulatorSource",
    "Source",
    "TailSource",
]
