"""Sources of samples on the command line."""

from __future__ import annotations

import argparse
import threading
from typing import TYPE_CHECKING, Any

from orthostream.cli.errors import UserError
from orthostream.cli.link_options import make_transport
from orthostream.cli.table_files import PIPE, named_values, table_format
from orthostream.cli.trouble import trouble_with

if TYPE_CHECKING:
    from orthostream.link.sources import Source

SIMULATOR, MQTT = "simulator", "mqtt:"


def source_name(text: str) -> str:
    """Return what messages call a source.

    >>> source_name("-"), source_name("simulator"), source_name("a.csv")
    ('standard input', 'the simulator', 'a.csv')
    """
    return {PIPE: "standard input", SIMULATOR: "the simulator"}.get(text, text)


def open_source(options: argparse.Namespace, name: str, mark: str | None, stop: threading.Event) -> Source:
    """Return the source that the options name, behind a mark; wait for its first samples until ``stop`` is set."""
    from orthostream.link import sources

    text = options.source
    with trouble_with(source_name(text)):
        if text == SIMULATOR:
            return sources.SimulatorSource(
                mark=mark,
                n_samples=options.simulated_samples,
                n_sensors=options.simulated_sensors,
                seed=options.seed,
                speed=options.speed,
            )
        if text == PIPE or text.startswith(MQTT):
            settings: dict[str, Any] = {"mark": mark, "sensors": options.sensors, "stop": stop}
            settings |= {"time_name": options.time or "time", "unit": options.time_unit or "ms"}
            if text == PIPE:
                return sources.JsonLinesSource(**settings)
            if not text.removeprefix(MQTT):
                raise UserError("mqtt: needs a topic, such as mqtt:house/+/temperature")
            transport = make_transport(options, f"{name}-readings", options.source_broker)
            return sources.MqttReadingsSource(transport, text.removeprefix(MQTT), **settings)
        if table_format(text, options.format) != "csv":
            raise UserError(f"an edge reads CSV; {text} is Parquet, which `orthostream compress` reads")
        table = {
            "time": options.time,
            "columns": options.columns,
            "units": named_values(options.unit, "--unit"),
            "header": options.header,
            "time_pattern": options.time_format,
            "time_unit": options.time_unit,
        }
        if options.follow:
            return sources.TailSource(text, mark=mark, stop=stop, **table)
        return sources.CsvFileSource(text, mark=mark, any_order=options.any_order, **table)


def check_source(options: argparse.Namespace) -> None:
    """Refuse options that do not go with the source."""
    text = options.source
    if text is None:
        raise UserError("no source given: name a CSV file, - for standard input, simulator, or mqtt:TOPIC")
    is_file = text not in (PIPE, SIMULATOR) and not text.startswith(MQTT)
    if options.follow and not is_file:
        raise UserError(f"--follow is for files that grow; {source_name(text)} is read as it comes anyway")
    if options.sensors and (is_file or text == SIMULATOR):
        raise UserError("--sensors is for standard input and MQTT; --columns chooses the columns of a file")
    if options.speed is not None and text != SIMULATOR:
        raise UserError("--speed is for the simulator")
