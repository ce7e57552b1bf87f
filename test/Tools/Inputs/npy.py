"""Writes a .npy file without NumPy: npy.py FILE DESCR SHAPE NUMBER..."""

import struct
import sys

path, descr, shape, *numbers = sys.argv[1:]
extents = "".join(f"{n}," for n in shape.split("x") if n)
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
code = {"f4": "f", "f8": "d", "u1": "B", "i1": "b", "u2": "H", "i4": "i", "i8": "q"}[descr[1:]]
convert = float if code in "fd" else int
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{len(numbers)}{code}", *map(convert, numbers)))
