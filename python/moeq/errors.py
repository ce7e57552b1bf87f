"""Errors that say where they come from."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Diagnostic:
    """What the compiler says of a place; `line` and `column` are 0 where it is unknown."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: list["Diagnostic"] = field(default_factory=list)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        return "\n".join(lines + [str(note) for note in self.notes])


class Error(Exception):
    """An operation failed; `diagnostics` are the reasons, errors and others."""

    def __init__(self, message: str, diagnostics: list[Diagnostic] = ()):
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join([message, *map(str, self.diagnostics)]))
