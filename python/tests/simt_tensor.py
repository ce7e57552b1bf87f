"""What kernels for chips without wgmma do, beside arithmetic: copies that their threads
wait for, and products of warps. Layouts are those of the PTX ISA, "Matrix Fragments"."""

import re

import numpy as np

from reference import formats

FORMATS = {"bf16": "bf16", "f16": "f16", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}
POISON = 0xA5


def count_of(op, name):
    return int(op.attributes[name].split(":")[0])


def words(value):
    """The bytes [threads, 4] of registers, whatever they hold."""
    return np.ascontiguousarray(value).view(np.uint8).reshape(len(value), 4)


class TensorCta:
    """The handlers, for a Cta; `shared` and the memory of the machine are its memory."""

    def __init__(self):
        self.copies, self.groups = [], []

    # Copies: what they fill is poison until a thread has waited.

    def nvvm_cp_async_shared_global(self, op, operands, mask):
        target, source, *rest = operands
        size = count_of(op, "size")
        filled = rest[0] if rest else np.full(self.threads, size)
        assert np.isin(filled[mask], (0, size)).all()
        data = np.zeros((self.threads, size), np.uint8)
        read = mask & (filled == size)
        memory = self.machine.memory
        data[read] = memory.bytes[memory.places(source[read], size, size, f"copy of {op}")]
        where = self.shared.places(target[mask], size, size, f"copy to {op}")
        self.shared.bytes[where] = POISON
        self.copies.append((where, data[mask]))
        return []

    def nvvm_cp_async_commit_group(self, op, operands, mask):
        assert mask.all(), "a group of some threads"
        self.groups.append(self.copies)
        self.copies = []
        return []

    def nvvm_cp_async_wait_group(self, op, operands, mask):
        assert mask.all(), "a wait of some threads"
        while len(self.groups) > count_of(op, "n"):
            for where, data in self.groups.pop(0):
                self.shared.bytes[where] = data
        return []

    # Products. A register of lane l has bytes 4 * (l mod 4) of row l div 4.

    def nvvm_ldmatrix(self, op, operands, mask):
        self.warps(mask)
        assert mask.all() and "row" in op.attributes["layout"]
        count = count_of(op, "num")
        rows = operands[0].reshape(-1, 32)[:, : 8 * count].reshape(-1)
        where = self.shared.places(rows, 16, 16, f"load of {op}")
        matrices = self.shared.bytes[where].reshape(-1, count, 32, 4)
        loaded = np.ascontiguousarray(matrices.transpose(0, 2, 1, 3)).view(np.int32)
        return [loaded.reshape(self.threads, count)]

    def matrix(self, registers, kind):
        """The numbers [warps, rows, K]: rows 8 at a time, then halves of 32 bytes of K."""
        halves = 2
        parts = np.stack([words(r).reshape(-1, 8, 16) for r in registers], 1)
        parts = parts.reshape(len(parts), halves, -1, 8, 16).transpose(0, 2, 3, 1, 4)
        raw = np.ascontiguousarray(parts).reshape(len(parts), -1, 16 * halves)
        if kind == "s8":
            return raw.view(np.int8).astype(np.int64)
        element = FORMATS[kind]
        return formats.decode(raw.view(formats.STORAGE[element]), element).astype(np.float64)

    def product(self, kinds, operands):
        """4 registers of 16 rows and 8 columns: a pair of each of two rows."""
        a, b = self.matrix(operands[:4], kinds[0]), self.matrix(operands[4:6], kinds[1])
        sums = (a @ b.transpose(0, 2, 1)).reshape(len(a), 2, 8, 4, 2).transpose(0, 2, 3, 1, 4)
        addend = np.stack(operands[6:], 1)
        return [(sums.reshape(self.threads, 4) + addend).astype(addend.dtype)]

    def nvvm_mma_sync(self, op, operands, mask):
        self.warps(mask)
        kinds = [
            re.search(r"mma_type<(\w+)>", op.attributes[f"multiplicand{x}PtxType"])[1] for x in "AB"
        ]
        return self.product(kinds, operands)

    def llvm_inline_asm(self, op, operands, mask):
        text = op.attributes["asm_string"]
        if text == '"mov.b32 $0, $1;"':
            return operands
        if flip := re.match(r'"lop3.b32 \$0, \$1, (-?\d+), (-?\d+), 0x6a;"', text):
            kept, flipped = np.array(flip.groups()).astype(np.int32)
            return [(operands[0] & kept) ^ flipped]
        self.warps(mask)
        if text.startswith('"wgmma.wait_group'):
            self.machine.matmul_registers = np.stack(operands, 1)
            return []
        kinds = re.search(
            r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.(\w+)\.(\w+)\.f32 ",
            text,
        ).groups()
        return self.product(kinds, operands)

    # Registers.

    def nvvm_prmt(self, op, operands, mask):
        low, high, selector = operands
        pool = np.concatenate([words(low), words(high)], 1)
        places = selector[:, None] >> np.arange(0, 16, 4) & 7
        picked = np.take_along_axis(pool, places, 1)
        return [np.ascontiguousarray(picked).view(np.int32)[:, 0]]
