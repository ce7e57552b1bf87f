"""Writes a .npy file without NumPy: npy.py FILE DESCR SHAPE NUMBER..., or, in place
of the numbers, `lcg:SEED:LOW:HIGH` for integers of a congruential generator, and
`lcg:SEED:LOW:HIGH/DIVISOR` for their quotients."""

import math
import struct
import sys


def numbers_of(words, count):
    if not words or not words[0].startswith("lcg:"):
        return words
    _, seed, low, high = words[0].split(":")
    high, _, divisor = high.partition("/")
    x, low, high, numbers = int(seed), int(low), int(high), []
    for _ in range(count):
        x = (1664525 * x + 1013904223) % 2**32
        number = low + (x >> 16) % (high - low)
        numbers.append(number / float(divisor) if divisor else number)
    return numbers


path, descr, shape, *words = sys.argv[1:]
extents = [int(n) for n in shape.split("x") if n]
numbers = numbers_of(words, math.prod(extents))
text = "".join(f"{n}," for n in extents)
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({text}), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
code = {"f4": "f", "f8": "d", "u1": "B", "i1": "b", "u2": "H", "i4": "i", "i8": "q"}[descr[1:]]
convert = float if code in "fd" else int
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(numbers)}{code}", *map(convert, numbers)))
