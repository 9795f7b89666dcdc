"""Tables in and out: CSV, and Parquet through pyarrow, as streams of readings and times."""

from orthostream.compression.tables.csv_table import CsvTable
from orthostream.compression.tables.csv_writer import CsvWriter
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.parquet_table import ParquetTable
from orthostream.compression.tables.parquet_writer import ParquetWriter

__all__ = ["CsvTable", "CsvWriter", "ParquetTable", "ParquetWriter", "TableError"]
