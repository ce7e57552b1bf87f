"""Executes what moeq-outline-kernels makes, without a GPU.

Reads a module in MLIR's generic form and interprets its host function and its
kernels with NumPy, a CTA at a time: all threads in lockstep, each op under the
mask of the threads that reach it. Each access is checked against the buffers,
shared memory included, so this is a memory checker too. It does not see races.
"""

import re

import ml_dtypes
import numpy as np

from reference import formats
from reference.generic import parse
from reference.routing import fma
from simt_tensor import TensorCta

DTYPES = {
    "index": np.int64,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i1": np.bool_,
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8,
    "f8E8M0FNU": np.uint8,
    "f4E2M1FN": np.uint8,
}
FLOATS = ("f64", "f32", "f16", "bf16")


def symbol(op, name):
    """The name in a `sym_name`, or the last one of a reference."""
    return re.search(r"\w+\W*$", op.attributes[name])[0].strip('"')


def integer(op, name):
    return int(op.attributes[name].split(":")[0])


def integers(op, name):
    return [int(i) for i in re.findall(r"-?\d+", op.attributes[name].split(":")[1])]


def body(op):
    return op.regions[0][0]


def element_of(type_text):
    """The element type and the width of a scalar or vector type."""
    vector = re.match(r"vector<(\d+)x(\w+)>", type_text)
    return (vector[2], int(vector[1])) if vector else (type_text, 0)


def element_of_memref(type_text):
    return re.match(r"memref<(?:[\d?]+x)*(\w+)", type_text)[1]


def parse_number(text, element):
    if text in ("true", "false"):
        return np.bool_(text == "true")
    if text.startswith("0x") and element in FLOATS:
        bits = np.dtype(DTYPES[element]).itemsize * 8
        return np.array([int(text, 16)]).astype(f"u{bits // 8}").view(DTYPES[element])[0]
    number = float(text) if element in FLOATS else int(text)
    return np.array(number).astype(DTYPES[element])[()]


class Memory:
    """Bytes with a map of those that may be accessed. Address 0 is none of them."""

    GAP = 256

    def __init__(self, size=1 << 22):
        self.bytes = np.zeros(size, np.uint8)
        self.valid = np.zeros(size, bool)
        self.top = self.GAP

    def allocate(self, size) -> int:
        address = self.top
        self.top = (address + size + 2 * self.GAP) // self.GAP * self.GAP
        while self.top > len(self.bytes):
            self.bytes = np.concatenate([self.bytes, np.zeros_like(self.bytes)])
            self.valid = np.concatenate([self.valid, np.zeros_like(self.valid)])
        self.valid[address : address + size] = True
        return address

    def places(self, address, size, alignment, what):
        assert (address % alignment == 0).all(), f"misaligned {what}"
        where = address[:, None] + np.arange(size)
        inside = (where >= 0) & (where < len(self.valid))
        assert inside.all() and self.valid[where].all(), f"{what} outside of all buffers"
        return where


COMPARE_I = [
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.less, np.less_equal, np.greater, np.greater_equal,
]  # fmt: skip


def compare_i(predicate, a, b):
    """arith.cmpi by its number, the unsigned ones last."""
    a, b = (a, b) if predicate < 6 else (unsigned(a), unsigned(b))
    return COMPARE_I[predicate](a, b)


def compare_f(predicate, a, b):
    """arith.cmpf by its number: ordered ones 1 to 7, unordered ones 8 to 14."""
    nan = np.isnan(a) | np.isnan(b)
    ordered = predicate < 8
    relation = [None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal]
    kind = predicate if ordered else predicate - 7
    if kind == 7:
        return ~nan if ordered else nan
    holds = relation[kind](a, b)
    return holds & ~nan if ordered else holds | nan


def unsigned(a):
    return a if a.dtype == bool else a.view(f"u{a.dtype.itemsize}")


def shift(function):
    def shifted(a, b):
        bits = a.dtype.itemsize * 8
        amount = np.clip(unsigned(b), 0, bits - 1).astype(a.dtype)
        return np.where(unsigned(b) < bits, function(a, amount), 0).astype(a.dtype)

    return shifted


def c_divide(a, b):
    b = np.where(b == 0, 1, b)
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


BINARY = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide,
    "maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin,
    "maxsi": np.maximum, "minsi": np.minimum, "divsi": c_divide,
    "maxui": lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype),
    "minui": lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype),
    "divui": lambda a, b: (unsigned(a) // np.where(b == 0, 1, unsigned(b))).astype(a.dtype),
    "remui": lambda a, b: (unsigned(a) % np.where(b == 0, 1, unsigned(b))).astype(a.dtype),
    "ceildivui": lambda a, b: -(-a // b),
    "shli": shift(np.left_shift), "shrsi": lambda a, b: a >> np.clip(b, 0, a.itemsize * 8 - 1),
    "shrui": shift(lambda a, b: (unsigned(a) >> unsigned(b)).view(a.dtype)),
}  # fmt: skip
REDUCE = {"add": np.add, "maximumf": np.maximum, "minimumf": np.minimum, "maxui": np.maximum}


class Machine:
    """Runs the functions of a module on NumPy arrays, in place. The host takes all
    branches as `branch` says, where it is not None."""

    def __init__(self, text, branch=None):
        self.branch = branch
        self.functions, self.globals = {}, {}
        self.shared_image = np.zeros(0, np.uint8)  # What a CTA finds in shared memory.
        self.memory = Memory()
        for op in self.walk(parse(text)):
            if op.name in ("func.func", "llvm.func"):
                self.functions[symbol(op, "sym_name")] = op
            elif op.name == "llvm.mlir.global":
                count, element = re.search(
                    r"array<(\d+) x (\w+)>", op.attributes["global_type"]
                ).groups()
                size = int(count) * np.dtype(DTYPES[element]).itemsize
                self.globals[symbol(op, "sym_name")] = size

    def walk(self, op):
        yield op
        for region in op.regions:
            for block in region:
                for inner in block.ops:
                    yield from self.walk(inner)

    # The host.

    def run(self, name, arrays):
        """Calls @name with arrays as its memrefs; they are changed in place. What it
        returns."""
        block = body(self.functions[name])
        self.host = {}
        for (argument, _), array in zip(block.arguments, arrays, strict=True):
            address = self.memory.allocate(array.nbytes)
            self.memory.bytes[address : address + array.nbytes] = (
                np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            )
            self.host[argument] = (address, array.shape)
        for op in block.ops:
            self.host_op(op)
        results = [
            self.read(self.host[o], element_of_memref(t))
            for o, t in zip(op.operands, op.operand_types, strict=True)
        ]
        for (argument, _), array in zip(block.arguments, arrays, strict=True):
            address, _ = self.host[argument]
            out = self.memory.bytes[address : address + array.nbytes]
            array[...] = out.view(array.dtype).reshape(array.shape)
        return results

    def read(self, buffer, element):
        address, shape = buffer
        dtype = np.dtype(DTYPES[element])
        size = int(np.prod(shape)) * dtype.itemsize
        return self.memory.bytes[address : address + size].view(dtype).reshape(shape).copy()

    def host_op(self, op):
        values = [self.host[o] for o in op.operands]
        if op.name == "arith.constant":
            self.host[op.results[0]] = integer(op, "value")
        elif op.name == "memref.dim":
            self.host[op.results[0]] = values[0][1][values[1]]
        elif op.name == "memref.alloc":
            element = element_of_memref(op.result_types[0])
            sizes = iter(values)
            extents = [
                next(sizes) if d == "?" else int(d)
                for d in re.findall(r"(\d+|\?)x", op.result_types[0])
            ]
            size = int(np.prod(extents)) * np.dtype(DTYPES[element]).itemsize
            address = self.memory.allocate(size)
            self.memory.bytes[address : address + size] = 0xFF
            self.host[op.results[0]] = (address, extents)
        elif op.name == "memref.subview":
            # Rows of it: static, dense, no extent dropped.
            (address, shape), (offsets, sizes) = (
                values[0],
                (integers(op, name) for name in ("static_offsets", "static_sizes")),
            )
            element = np.dtype(DTYPES[element_of_memref(op.result_types[0])])
            place = np.dot(offsets, [int(np.prod(shape[i + 1 :])) for i in range(len(shape))])
            self.host[op.results[0]] = (address + int(place) * element.itemsize, sizes)
        elif op.name in ("memref.dealloc", "func.return", "scf.yield"):
            pass
        elif op.name == "scf.if":
            taken = values[0] if self.branch is None else self.branch
            for block in op.regions[0 if taken else 1]:
                for inner in block.ops:
                    self.host_op(inner)
        elif op.name == "arith.cmpi":
            left, right = (np.array(v) for v in values)
            self.host[op.results[0]] = bool(compare_i(integer(op, "predicate"), left, right))
        elif op.name == "arith.index_cast":
            self.host[op.results[0]] = values[0]
        elif op.name == "gpu.launch_func":
            self.launch(op, values)
        else:
            left, right = (np.array([v]) for v in values)
            self.host[op.results[0]] = int(BINARY[op.name.split(".")[1]](left, right)[0])

    def launch(self, op, values):
        counts = integers(op, "operandSegmentSizes")
        (gx, gy, gz, bx, by, bz) = values[counts[0] : counts[0] + 6]
        assert (gy, gz, by, bz) == (1, 1, 1, 1) and gx > 0
        arguments = values[sum(counts[:11]) : sum(counts[:12])]
        dynamic = values[sum(counts[:10])] if counts[10] else 0
        kernel = self.functions[symbol(op, "kernel")]
        assert integers(kernel, "nvvm.maxntid")[0] == bx
        for number in range(gx):
            Cta(self, kernel, number, gx, bx, dynamic).run(arguments)


class Cta(TensorCta):
    """One CTA: values are arrays [threads] or, for vectors and structs, [threads, width].
    An array of shared memory that has no size has `dynamic` bytes."""

    def __init__(self, machine, kernel, number, count, threads, dynamic):
        super().__init__()
        self.machine, self.kernel, self.dynamic = machine, kernel, dynamic
        self.number, self.count, self.threads = number, count, threads
        self.values = {}
        self.shared, self.shared_base = Memory(1 << 16), {}

    def run(self, arguments):
        block = body(self.kernel)
        for (name, type_text), value in zip(block.arguments, arguments, strict=True):
            address = value[0] if isinstance(value, tuple) else value
            self.values[name] = np.full(self.threads, address, DTYPES.get(type_text, np.int64))
        self.block(block, np.ones(self.threads, bool))

    def block(self, block, mask):
        """Executes a block under a mask; what it yields."""
        for op in block.ops:
            operands = [self.values[o] for o in op.operands]
            if op.name in ("scf.yield", "scf.condition", "llvm.return"):
                return operands
            with np.errstate(all="ignore"):
                results = self.execute(op, operands, mask)
            for name, value in zip(op.results, results, strict=True):
                self.values[name] = value
        return []

    def merge(self, mask, new, old):
        return [
            np.where(mask[(...,) + (None,) * (n.ndim - 1)], n, o)
            for n, o in zip(new, old, strict=True)
        ]

    def memory_of(self, pointer_type):
        return self.shared if "<3>" in pointer_type else self.machine.memory

    def execute(self, op, operands, mask):
        dialect, _, name = op.name.partition(".")
        if handler := getattr(self, f"{dialect}_{name.replace('.', '_')}", None):
            return handler(op, operands, mask)
        if dialect == "arith" and name in BINARY:
            return [BINARY[name](*operands).astype(operands[0].dtype, copy=False)]
        raise NotImplementedError(op.name)

    # scf

    def scf_if(self, op, operands, mask):
        then, otherwise = mask & operands[0], mask & ~operands[0]
        zeros = [self.zeros(t) for t in op.result_types]
        results = self.block(op.regions[0][0], then) if then.any() else zeros
        if op.regions[1] and otherwise.any():
            results = self.merge(then, results, self.block(op.regions[1][0], otherwise))
        return results

    def scf_index_switch(self, op, operands, mask):
        cases = integers(op, "cases")
        chosen = [~np.isin(operands[0], cases), *(operands[0] == case for case in cases)]
        results = [self.zeros(t) for t in op.result_types]
        for region, taken in zip(op.regions, chosen, strict=True):
            if (active := mask & taken).any():
                results = self.merge(active, self.block(region[0], active), results)
        return results

    def scf_for(self, op, operands, mask):
        value, end, step, *carried = operands
        induction, *names = (name for name, _ in body(op).arguments)
        value = value.copy()
        while True:
            active = mask & (value < end)
            if not active.any():
                return carried
            self.values.update(zip(names, carried, strict=True))
            self.values[induction] = value
            carried = self.merge(active, self.block(body(op), active), carried)
            value = np.where(active, value + step, value)

    def scf_while(self, op, operands, mask):
        (before,), (after,) = op.regions

        def enter(block, values):
            self.values.update(zip((name for name, _ in block.arguments), values, strict=True))
            return self.block(block, mask)

        carried, results = operands, operands
        while True:
            goes_on, *passed = enter(before, carried)
            results = self.merge(mask, passed, results)
            mask = mask & goes_on
            if not mask.any():
                return results
            carried = self.merge(mask, enter(after, results), carried)

    def zeros(self, type_text):
        element, width = element_of(type_text)
        dtype = np.int64 if "ptr" in element else DTYPES[element]
        return np.zeros((self.threads, width) if width else self.threads, dtype)

    # llvm and nvvm

    def llvm_getelementptr(self, op, operands, mask):
        (index,) = integers(op, "rawConstantIndices")
        offset = operands[1].astype(np.int64) if index == -(1 << 31) else index
        element, width = element_of(op.attributes["elem_type"])
        size = np.dtype(DTYPES[element]).itemsize * max(width, 1)
        return [operands[0] + offset * size]

    def alignment(self, op):
        return integer(op, "alignment") if "alignment" in op.attributes else 1

    def llvm_load(self, op, operands, mask):
        element, width = element_of(op.result_types[0])
        dtype = np.dtype(DTYPES[element])
        size = dtype.itemsize * max(width, 1)
        memory = self.memory_of(op.operand_types[0])
        where = memory.places(operands[0][mask], size, self.alignment(op), f"load of {op}")
        result = self.zeros(op.result_types[0])
        loaded = np.ascontiguousarray(memory.bytes[where]).view(dtype)
        result[mask] = loaded if width else loaded[:, 0]
        return [result]

    def llvm_store(self, op, operands, mask):
        value, address = operands
        raw = np.ascontiguousarray(value[mask].reshape(mask.sum(), -1)).view(np.uint8)
        memory = self.memory_of(op.operand_types[1])
        where = memory.places(address[mask], raw.shape[1], self.alignment(op), f"store of {op}")
        memory.bytes[where] = raw
        return []

    def llvm_mlir_addressof(self, op, operands, mask):
        name = symbol(op, "global_name")
        if name not in self.shared_base:
            image = self.machine.shared_image
            size = max(self.machine.globals[name] or self.dynamic, len(image))
            at = self.shared.allocate(size)
            self.shared_base[name] = at
            self.shared.bytes[at : at + len(image)] = image
        return [np.full(self.threads, self.shared_base[name], np.int64)]

    def llvm_ptrtoint(self, op, operands, mask):
        return [operands[0].astype(DTYPES[op.result_types[0]])]

    def llvm_inttoptr(self, op, operands, mask):
        return [operands[0].astype(np.int64)]

    def llvm_bitcast(self, op, operands, mask):
        element, width = element_of(op.result_types[0])
        raw = np.ascontiguousarray(operands[0].reshape(self.threads, -1)).view(DTYPES[element])
        return [raw if width else raw[:, 0]]

    vector_bitcast = llvm_bitcast

    def llvm_mlir_poison(self, op, operands, mask):
        elements = re.findall(r"\w+(?=[,)])", op.result_types[0])
        return [np.zeros((self.threads, len(elements)), DTYPES[elements[0]])]

    def llvm_insertvalue(self, op, operands, mask):
        struct, value = operands
        struct = struct.copy()
        struct[:, integers(op, "position")[-1]] = value
        return [struct]

    def llvm_extractvalue(self, op, operands, mask):
        return [operands[0][:, integers(op, "position")[-1]]]

    def llvm_extractelement(self, op, operands, mask):
        vector, position = operands
        return [vector[np.arange(self.threads), position]]

    def llvm_intr_cttz(self, op, operands, mask):
        assert operands[0][mask].all(), "cttz of 0"
        lowest = unsigned(operands[0] & -operands[0]).astype(np.float64)
        return [np.frexp(lowest)[1].astype(np.int32) - 1]

    math_cttz = llvm_intr_cttz

    def llvm_call_intrinsic(self, op, operands, mask):
        function = {"ex2": np.exp2, "rcp": np.reciprocal}[op.attributes["intrin"].split(".")[2]]
        return [function(operands[0])]

    def nvvm_read_ptx_sreg_tid_x(self, op, operands, mask):
        return [np.arange(self.threads, dtype=np.int32)]

    def nvvm_read_ptx_sreg_ctaid_x(self, op, operands, mask):
        return [np.full(self.threads, self.number, np.int32)]

    def nvvm_read_ptx_sreg_nctaid_x(self, op, operands, mask):
        return [np.full(self.threads, self.count, np.int32)]

    def nvvm_barrier(self, op, operands, mask):
        assert mask.all(), "a barrier that not all threads reach"
        return []

    nvvm_barrier0 = nvvm_barrier

    def nvvm_prefetch(self, op, operands, mask):
        return []

    def nvvm_setmaxregister(self, op, operands, mask):
        return []

    def warps(self, mask):
        """Lanes by warp; all lanes of a warp take part, or none."""
        by_warp = mask.reshape(-1, 32)
        assert (by_warp.all(1) | ~by_warp.any(1)).all(), "a divergent warp operation"

    def nvvm_shfl_sync(self, op, operands, mask):
        self.warps(mask)
        lanes = np.arange(self.threads)
        if "bfly" in op.attributes["kind"]:
            return [operands[1][lanes ^ operands[2]]]
        if "up" in op.attributes["kind"]:
            return [operands[1][np.where(lanes % 32 >= operands[2], lanes - operands[2], lanes)]]
        assert (
            "idx" in op.attributes["kind"] and ((operands[2] >= 0) & (operands[2] < 32))[mask].all()
        )
        return [operands[1][lanes // 32 * 32 + operands[2] % 32]]

    def nvvm_vote_sync(self, op, operands, mask):
        self.warps(mask)
        bits = (
            operands[1].reshape(-1, 32).astype(np.uint64) << np.arange(32, dtype=np.uint64)
        ).sum(1)
        return [np.repeat(bits.astype(np.uint32).view(np.int32), 32)]

    def nvvm_redux_sync(self, op, operands, mask):
        self.warps(mask)
        kind = re.search(r"(max|min)>", op.attributes["kind"])[1]
        reduce = {"max": np.max, "min": np.min}[kind]
        return [np.repeat(reduce(operands[0].reshape(-1, 32), 1), 32)]

    # arith and math

    def arith_constant(self, op, operands, mask):
        element, width = element_of(op.result_types[0])
        text = re.match(r"(?:dense<)?([-\w.+]+)", op.attributes["value"])[1]
        shape = (self.threads, width) if width else self.threads
        return [np.full(shape, parse_number(text, element), DTYPES[element])]

    def arith_cmpi(self, op, operands, mask):
        return [compare_i(integer(op, "predicate"), *operands)]

    def arith_cmpf(self, op, operands, mask):
        return [compare_f(integer(op, "predicate"), *operands)]

    def arith_select(self, op, operands, mask):
        condition, a, b = operands
        if condition.ndim < a.ndim:
            condition = condition[:, None]
        return [np.where(condition, a, b)]

    def convert(self, op, operands, mask):
        return [operands[0].astype(DTYPES[element_of(op.result_types[0])[0]])]

    arith_index_cast = arith_sitofp = arith_extsi = arith_trunci = arith_fptosi = convert

    def from_unsigned(self, op, operands, mask):
        return [unsigned(operands[0]).astype(DTYPES[element_of(op.result_types[0])[0]])]

    arith_index_castui = arith_extui = arith_uitofp = from_unsigned

    def arith_extf(self, op, operands, mask):
        element = element_of(op.operand_types[0])[0]
        if element not in FLOATS:
            return [formats.decode(operands[0], element)]
        return self.convert(op, operands, mask)

    def arith_truncf(self, op, operands, mask):
        element = element_of(op.result_types[0])[0]
        if element == "f8E8M0FNU":
            bits = operands[0].view(np.uint32)
            assert ((bits & 0x7FFFFF == 0) | (bits == 0x400000) | np.isnan(operands[0]))[mask].all()
            exponent = np.frexp(operands[0].astype(np.float64))[1] - 1 + 127
            return [np.where(np.isnan(operands[0]), 255, exponent).astype(np.uint8)]
        if element not in FLOATS:
            return [formats.encode(operands[0], element)]
        return self.convert(op, operands, mask)

    def arith_bitcast(self, op, operands, mask):
        return [operands[0].view(DTYPES[element_of(op.result_types[0])[0]])]

    def arith_negf(self, op, operands, mask):
        return [-operands[0]]

    def math_absf(self, op, operands, mask):
        return [np.abs(operands[0])]

    def math_roundeven(self, op, operands, mask):
        return [np.rint(operands[0])]

    def math_exp2(self, op, operands, mask):
        return [np.exp2(operands[0])]

    def math_fma(self, op, operands, mask):
        return [fma(*operands)]

    def math_ctpop(self, op, operands, mask):
        return [np.bitwise_count(unsigned(operands[0])).astype(operands[0].dtype)]

    # vector

    def vector_broadcast(self, op, operands, mask):
        width = element_of(op.result_types[0])[1]
        return [np.repeat(operands[0][:, None], width, 1)]

    def vector_from_elements(self, op, operands, mask):
        return [np.stack(operands, 1)]

    def vector_extract(self, op, operands, mask):
        return [operands[0][:, integers(op, "static_position")[0]]]

    def vector_deinterleave(self, op, operands, mask):
        return [operands[0][:, 0::2], operands[0][:, 1::2]]

    def vector_interleave(self, op, operands, mask):
        return [np.stack(operands, 2).reshape(self.threads, -1)]

    def vector_reduction(self, op, operands, mask):
        kind = re.search(r"kind<(\w+)>", op.attributes["kind"])[1]
        return [REDUCE[kind].reduce(operands[0], axis=1)]
