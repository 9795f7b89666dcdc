"""Embed an edge in your own program: readings that `push` has taken arrive, whatever is switched off meanwhile."""

import tempfile
import time
from pathlib import Path

import numpy as np

from orthostream.compression import Column, MaxError, Schema, TimeAxis
from orthostream.link import Cloud, Edge, MemoryBroker

# In your program: transport = MqttTransport("127.0.0.1:1883", client_id="roof"), from orthostream.link.transport.mqtt,
# and `with transport:`. The cloud is then a process of its own: orthostream cloud --broker 127.0.0.1:1883
broker = MemoryBroker()
sensors = Schema((Column("temperature", "degC"), Column("humidity", "%")), TimeAxis("time", unit="s"))
random = np.random.default_rng(0)


def read_sensors(minute: int) -> list[float]:
    return [round(15 + 5 * np.sin(minute / 200) + random.normal(0, 0.1), 1), round(60 + random.normal(0, 1), 1)]


with (
    tempfile.TemporaryDirectory() as folder,
    Cloud(str(Path(folder) / "readings.db"), broker.transport()) as cloud,
    Edge("roof", sensors, MaxError(0.5), Path(folder) / "roof.outbox", broker.transport(), max_delay=0.05) as edge,
):
    for minute in range(1000):
        edge.push([read_sensors(minute)], [1_700_000_000 + 60 * minute])  # on disk when this returns
        edge.step()  # sends what is due, and takes acknowledgements in
        cloud.step()
    edge.flush()
    while not edge.is_done:
        edge.step()
        cloud.step(wait=0.01)
        time.sleep(0.01)
    status = edge.status()
    print(f"sent: {status['samples']} samples in {status['messages sent']} messages, {status['bytes sent']} bytes")
    chunks = list(cloud.store.readings("roof", "temperature"))
    print(f"stored: {sum(len(chunk.values) for chunk in chunks)} temperatures of the edge {chunks[0].edge}")
    print(f"the last one is {chunks[-1].values[-1]:.1f} {chunks[-1].unit}, within 0.5 of what was measured")
