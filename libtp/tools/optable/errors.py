"""Faults of the table: collected, so that one run shows them all."""


class TableError(Exception):
    """One fault; the message carries no position."""


class Report:
    """Collects faults as `file: [operator] key: what`."""

    def __init__(self):
        self.faults = []

    def add(self, file, op, key, message):
        place = f"{file}: [{op}]" if op else f"{file}:"
        self.faults.append(f"{place} {key}: {message}" if key else f"{place} {message}")

    def __bool__(self):
        return bool(self.faults)
