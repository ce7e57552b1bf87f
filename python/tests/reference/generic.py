"""Reads MLIR in the generic form: ops with names, operands, attributes and regions.
Types and attributes stay text, with aliases expanded."""

import re
from dataclasses import dataclass, field

OPEN, CLOSE = "([{<", ")]}>"


@dataclass
class Op:
    name: str
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    regions: list[list["Block"]] = field(default_factory=list)
    operand_types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)


@dataclass
class Block:
    arguments: list[tuple[str, str]] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of `text` between separators outside brackets and strings."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            i = text.index('"', i + 1)
        elif c in OPEN:
            depth += 1
        elif c in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    last = text[start:].strip()
    return parts + ([last] if last or parts else [])


def dictionary(text: str) -> dict[str, str]:
    """The entries of an attribute dictionary; a unit attribute has an empty value."""
    entries = {}
    for part in split(text):
        key, _, value = part.partition("=")
        entries[key.strip().strip('"')] = value.strip()
    return entries


class Parser:
    def __init__(self, text: str):
        aliases = dict(re.findall(r"^([!#][\w.]+) = (.*)$", text, re.M))
        text = re.sub(r"^[!#][\w.]+ = .*\n", "", text, flags=re.M)
        for _ in aliases:  # an alias may use others
            expand = lambda m: aliases.get(m.group(), m.group())  # noqa: E731
            text = re.sub(r"[!#][\w.]+", expand, text)
        self.text, self.at = text, 0

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, token: str) -> bool:
        self.skip()
        found = self.text.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise ValueError(f"expects {token!r} at {self.text[self.at : self.at + 40]!r}")

    def balanced(self) -> str:
        """The text inside the bracket that comes next."""
        self.skip()
        start, depth = self.at + 1, 0
        while True:
            c = self.text[self.at]
            if c == '"':
                self.at = self.text.index('"', self.at + 1)
            elif c in OPEN:
                depth += 1
            elif c in CLOSE and self.text[self.at - 1 : self.at + 1] != "->":
                depth -= 1
            self.at += 1
            if depth == 0:
                return self.text[start : self.at - 1]

    def match(self, pattern: str) -> str | None:
        self.skip()
        found = re.compile(pattern).match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return found.group()

    def types(self) -> list[str]:
        """A list of types in parentheses, or one type."""
        self.skip()
        if self.text[self.at] == "(":
            return split(self.balanced())
        start = self.at
        self.match(r"[!\w.]+")
        if self.at < len(self.text) and self.text[self.at] == "<":
            self.balanced()
        return [self.text[start : self.at]]

    def op(self) -> Op:
        results: list[str] = []
        while name := self.match(r"%\w+"):
            count = self.match(r":\d+")
            results += [f"{name}#{i}" for i in range(int(count[1:]))] if count else [name]
            self.take(",")
        if results:
            self.expect("=")
        op = Op(self.match(r'"[^"]*"').strip('"'), results)
        op.operands = split(self.balanced())
        if self.take("<{"):
            self.at -= 1
            op.attributes |= dictionary(self.balanced())
            self.expect(">")
        if self.take("("):
            while True:
                op.regions.append(self.region())
                if not self.take(","):
                    break
            self.expect(")")
        if self.take("{"):
            self.at -= 1
            op.attributes |= dictionary(self.balanced())
        self.expect(":")
        op.operand_types = self.types()
        self.expect("->")
        op.result_types = self.types()
        return op

    def region(self) -> list[Block]:
        self.expect("{")
        blocks = []
        while not self.take("}"):
            block = Block()
            if self.match(r"\^\w+"):
                self.skip()
                if self.text[self.at] == "(":
                    for argument in split(self.balanced()):
                        name, _, type_ = argument.partition(":")
                        block.arguments.append((name.strip(), type_.strip()))
                self.expect(":")
            while not (self.text[self.at :].lstrip().startswith(("^", "}"))):
                block.ops.append(self.op())
            blocks.append(block)
        return blocks


def parse(text: str) -> Op:
    """The module that is `text`."""
    return Parser(text).op()
