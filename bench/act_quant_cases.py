"""The programs of the suite `act-quant`: activation and quantization of the rows of 8
experts, with what they read and write."""

from dataclasses import dataclass

GROUPS = 8
ROWS = 8 * 4000
SMALL_ROWS = (64, 512)
ROW_TILE = 128  # rows of a group are padded to


@dataclass(frozen=True)
class Scheme:
    """A recipe, the values and scales that it makes, and columns of a block (None: all)."""

    recipe: str
    value: str
    scale: str
    block: int | None

    def format(self, layout="row_major", groups=0, columnwise=False) -> str:
        block = "*" if self.block is None else str(self.block)
        block += ", 1" if columnwise else ""
        layout = f", layout = {layout}" if layout != "row_major" else ""
        groups = f", groups = {groups}" if groups else ""
        return (
            f"!moeq.scaled<{self.value}, block = [{block}], scale = {self.scale}{layout}{groups}>"
        )


SCHEMES = {
    "mxfp8": Scheme("te_mx", "f8E4M3FN", "f8E8M0FNU", 32),
    "fp8-block": Scheme("deepgemm", "f8E4M3FN", "f32", 128),
    "fp8-token": Scheme("vllm_token", "f8E4M3FN", "f32", None),
    "int8-token": Scheme("int8_sym", "i8", "f32", None),
}
BY_ROW = ("fp8-block", "fp8-token", "int8-token")  # besides MXFP8
SCALE_BYTES = {"f8E8M0FNU": 1, "f32": 4}


def padded_rows(rows: int) -> int:
    return (rows // ROW_TILE + GROUPS) * ROW_TILE


@dataclass(frozen=True)
class Case:
    """`columns` of the input; `columnwise`: "", "row_major" or "transposed"; `padded`: the
    scales of each expert are padded, and swizzled where they are of MXFP8."""

    function: str
    columns: int
    scheme: str
    columnwise: str = ""
    padded: bool = False
    rowwise: bool = True

    @property
    def name(self) -> str:
        kinds = ["row"] * self.rowwise + [{"": "", "row_major": "col"}.get(self.columnwise, "colT")]
        kind = "+".join(k for k in kinds if k)
        return "-".join(
            ["act", self.function, str(self.columns), self.scheme, kind] + ["padded"] * self.padded
        )

    @property
    def features(self) -> int:
        return self.columns // 2 if self.function == "swiglu" else self.columns

    @property
    def goal(self) -> float:
        """The score that the case should reach."""
        return {"": 0.97, "row_major": 0.92, "transposed": 0.90}[self.columnwise]

    @property
    def layout(self) -> str:
        return "swizzle_128x4" if self.padded and self.scheme == "mxfp8" else "row_major"

    def bytes(self, rows: int) -> int:
        """What must be read and written, padding left out."""
        s = SCHEMES[self.scheme]
        scales = self.features * rows // (s.block or self.features) * SCALE_BYTES[s.scale]
        results = self.rowwise + bool(self.columnwise)
        return rows * self.columns * 2 + results * (rows * self.features + scales)

    def text(self) -> str:
        scheme, f = SCHEMES[self.scheme], self.features
        results, inits = [], []
        if self.rowwise:
            groups = GROUPS if self.padded else 0
            results.append(("outs", f"tensor<?x{f}x{scheme.format(self.layout, groups)}>", "%rows"))
        if self.columnwise == "row_major":
            format = scheme.format(groups=GROUPS, columnwise=True)
            results.append(("columnwise", f"tensor<?x{f}x{format}>", "%rows"))
        elif self.columnwise:
            format = scheme.format(self.layout)
            results.append(("columnwise", f"tensor<{f}x?x{format}>", "%padded"))
        parts = []
        for i, (keyword, type_, size) in enumerate(results):
            inits.append(f"  %init{i} = tensor.empty({size}) : {type_}")
            parts.append(f"{keyword}(%init{i} : {type_})")
        types = ", ".join(type_ for _, type_, _ in results)
        values = ", ".join(f"%q#{i}" for i in range(len(results)))
        x, offsets = f"tensor<?x{self.columns}xbf16>", f"tensor<{GROUPS + 1}xi32>"
        newline = "\n"
        return f"""
func.func @act_quant(%x: {x} {{moeq.name = "x"}},
                     %offsets: {offsets} {{moeq.name = "offsets"}}) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %c8 = arith.constant {GROUPS} : index
  %c128 = arith.constant {ROW_TILE} : index
  %rows = tensor.dim %x, %c0 : {x}
  %tiles = arith.floordivsi %rows, %c128 : index
  %all = arith.addi %tiles, %c8 : index
  %padded = arith.muli %all, %c128 : index
{newline.join(inits)}
  %q:{len(results)} = moeq.act_quant input(%x : {x}) offsets(%offsets : {offsets})
      {newline.join(parts)} function({self.function}) intermediate_round(bf16)
      recipe(<{scheme.recipe}>) -> {types}
  return {values} : {types}
}}
"""

    def activation(self) -> "Activation":
        return Activation(self.function, self.columns)


@dataclass(frozen=True)
class Activation:
    """The activation alone, which says what is quantized."""

    function: str
    columns: int

    @property
    def name(self) -> str:
        return f"activate-{self.function}-{self.columns}"

    def text(self) -> str:
        f = self.columns // 2 if self.function == "swiglu" else self.columns
        x, y = f"tensor<?x{self.columns}xbf16>", f"tensor<?x{f}xbf16>"
        return f"""
func.func @activate(%x: {x} {{moeq.name = "x"}}) -> {y} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : {x}
  %init = tensor.empty(%rows) : {y}
  %y = moeq.activate input(%x : {x}) outs(%init : {y}) function({self.function}) -> {y}
  return %y : {y}
}}
"""


COLUMNWISE = ("", "row_major", "transposed")
CASES = (
    [
        Case(function, columns, "mxfp8", columnwise, padded)
        for function, columns in (("swiglu", 4096), ("swiglu", 8192), ("srelu", 4096))
        for columnwise in COLUMNWISE
        for padded in (False, True)
    ]
    + [Case("swiglu", columns, scheme) for columns in (4096, 8192) for scheme in BY_ROW]
    + [Case("swiglu", 4096, "fp8-block", columnwise, True) for columnwise in COLUMNWISE[1:]]
)
# What a framework does in several kernels: the whole tensor of a grouped linear layer.
PEER_CASES = [
    Case(function, 4096, "mxfp8", columnwise, True)
    for function in ("swiglu", "srelu")
    for columnwise in COLUMNWISE[1:]
]


def programs() -> dict[str, str]:
    """The MLIR of the suite, by name."""
    activations = dict.fromkeys(case.activation() for case in CASES)
    return {p.name: p.text() for p in [*CASES, *activations]}
