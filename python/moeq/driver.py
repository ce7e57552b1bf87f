"""Launches compiled kernels. Needs only the CUDA driver."""

import ctypes
import json
from pathlib import Path

from moeq import cuda
from moeq.errors import Error
from moeq.manifest import SIZES, Output, bind_sizes, check_version, evaluate, outputs
from moeq.tensors import DeviceTensor, device_tensor

SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}
CACHED_LAUNCHES = 64
ALIGNMENT = 256


def load(directory) -> "Kernels":
    """The kernels of a folder that moeq-compile or Artifact.save wrote."""
    return Kernels(Path(directory))


class Launch:
    """The kernels of an entry with all their arguments: what is left is to enqueue them."""

    def __init__(self, kernels, keep):
        self.kernels, self.keep = kernels, keep

    def __call__(self, stream: int = 0) -> None:
        for function, shape, parameters, programmatic in self.kernels:
            cuda.launch(function, *shape, stream, parameters, programmatic)


class Kernels:
    """Compiled entries. A workspace is kept for each entry and stream, so launches of
    one entry on two streams do not share it."""

    def __init__(self, directory: Path):
        self.directory = directory
        try:
            self.manifest = json.loads((directory / "manifest.json").read_text())
        except (OSError, ValueError) as error:
            raise Error(f"could not read the manifest of {directory}: {error}") from error
        check_version(self.manifest)
        self.entries = self.manifest["entries"]
        self.functions: dict[str, ctypes.c_void_p] = {}
        self.shared_memory: dict[str, int] = {}
        self.workspaces: dict[tuple[str, int], tuple[int, int]] = {}
        self.zeroed: dict[tuple[str, int], tuple[int, int]] = {}
        self.launches: dict[tuple, Launch] = {}
        self.num_sms: int | None = None

    def entry(self, name: str) -> dict:
        if name not in self.entries:
            raise Error(f"expects an entry of {', '.join(self.entries)}, got {name}")
        return self.entries[name]

    def outputs(self, name: str, tensors: dict) -> list[Output]:
        """The names, element types and shapes of what an entry writes, given its inputs."""
        shapes = {key: tuple(value.shape) for key, value in tensors.items()}
        entry = self.entry(name)
        return outputs(entry, bind_sizes(entry, shapes))

    def launch(self, name: str, tensors, stream=None) -> None:
        """Enqueues the kernels of an entry on a stream, without synchronization.
        `tensors` are its arguments and results on the device, by name or in order."""
        stream = getattr(stream, "cuda_stream", stream) or 0
        self.prepare(name, tensors, stream)(stream)

    def prepare(self, name: str, tensors, stream: int = 0) -> Launch:
        """What `launch` enqueues. Cached by the places and shapes of the tensors."""
        entry = self.entry(name)
        names = [argument["name"] for argument in entry["arguments"]]
        if not isinstance(tensors, dict):
            if len(tensors) != len(names):
                raise Error(
                    f"expects {len(names)} tensors ({', '.join(names)}), got {len(tensors)}"
                )
            tensors = dict(zip(names, tensors, strict=True))
        if missing := [n for n in names if n not in tensors]:
            raise Error(f"expects the tensors {', '.join(names)}; missing: {', '.join(missing)}")
        placed = {n: device_tensor(tensors[n], n) for n in names}
        key = (name, stream, *placed.values())
        if key not in self.launches:
            if len(self.launches) >= CACHED_LAUNCHES:
                self.launches.pop(next(iter(self.launches)))
            self.launches[key] = self.bind(name, placed, stream)
        return self.launches[key]

    def bind(self, name: str, placed: dict[str, DeviceTensor], stream: int) -> Launch:
        """Evaluates the manifest for these tensors."""
        if self.num_sms is None:
            self.num_sms = cuda.sm_count(cuda.use_context())
        entry = self.entry(name)
        for argument in entry["arguments"]:
            size, got = SIZES.get(argument["element"]), placed[argument["name"]].itemsize
            if None not in (got, size) and got != size:
                raise Error(
                    f"{argument['name']}: expects {size} bytes an element for "
                    f"{argument['element']}, got {got}"
                )
        sizes = bind_sizes(entry, {key: tensor.shape for key, tensor in placed.items()})
        sizes["num_sms"] = self.num_sms
        buffers = self.place_workspaces(name, entry, sizes, stream)
        for key, tensor in placed.items():
            # An empty tensor may have no address; a kernel's descriptor needs one.
            buffers[key] = tensor.pointer or buffers[""]
        bound, keep = [], []
        for kernel in entry["kernels"]:
            condition = kernel.get("condition")
            if condition is not None and not evaluate(condition, sizes):
                continue
            grid = [evaluate(extent, sizes) for extent in kernel["grid"]]
            if 0 in grid:
                continue
            block = [evaluate(extent, sizes) for extent in kernel["block"]]
            shared_memory = evaluate(kernel["shared_memory"], sizes)
            function = self.function(kernel, shared_memory)
            arguments = [self.argument(p, buffers, sizes) for p in kernel["parameters"]]
            addresses = [
                a.address if isinstance(a, cuda.TensorMaps) else ctypes.addressof(a)
                for a in arguments
            ]
            parameters = (ctypes.c_void_p * len(addresses))(*addresses)
            shape = grid, block, kernel.get("cluster", [1, 1, 1]), shared_memory
            bound.append((function, shape, parameters, kernel.get("programmatic", False)))
            keep.append(arguments)
        return Launch(bound, keep)

    def argument(self, parameter: dict, buffers: dict[str, int], sizes: dict[str, int]):
        """One argument of a kernel, as the memory that the driver reads it from."""
        if parameter["kind"] == "scalar":
            return SCALARS[parameter["type"]](evaluate(parameter["value"], sizes))
        offset = evaluate(parameter.get("byte_offset", 0), sizes)
        pointer = buffers[parameter["buffer"]] + offset
        if parameter["kind"] == "pointer":
            return ctypes.c_uint64(pointer)
        if parameter["kind"] != "tensor_map":
            raise Error(f"the manifest has an unknown kind of parameter: {parameter['kind']}")
        return cuda.TensorMaps(
            pointer,
            parameter["element"],
            [evaluate(extent, sizes) for extent in parameter["dims"]],
            [evaluate(stride, sizes) for stride in parameter["strides"]],
            parameter["boxes"] if "boxes" in parameter else [parameter["box"]],
            parameter.get("swizzle", "none"),
            parameter.get("l2_promotion", "none"),
        )

    def place_workspaces(self, name, entry, sizes, stream) -> dict[str, int]:
        """The address of each workspace; "" is a place for what is empty. Those that
        are zeroed lie in an allocation of their own, since what the others hold, and
        where they lie, differs from call to call."""
        zeroed = [w for w in entry["workspaces"] if w.get("zeroed")]
        others = [w for w in entry["workspaces"] if not w.get("zeroed")]
        places = self.place(self.workspaces, (name, stream), others, sizes, cuda.allocate)
        if zeroed:
            places |= self.place(self.zeroed, (name, stream), zeroed, sizes, cuda.allocate_zeroed)
        return places

    def place(self, allocations, key, workspaces, sizes, allocate) -> dict[str, int]:
        """The address of each workspace in one allocation that only grows."""
        offsets, total = {"": 0}, ALIGNMENT
        for workspace in workspaces:
            offsets[workspace["name"]] = total
            total += -(-evaluate(workspace["bytes"], sizes) // ALIGNMENT) * ALIGNMENT
        base, size = allocations.get(key, (0, 0))
        if size < total:
            # The older one stays: launches, and graphs of them, are bound to it.
            size = max(total, 2 * size)
            base = allocate(size)
            allocations[key] = base, size
        return {name: base + offset for name, offset in offsets.items()}

    def function(self, kernel: dict, shared_memory: int) -> ctypes.c_void_p:
        """The loaded kernel, allowed to use that much shared memory."""
        name = kernel["name"]
        if name not in self.functions:
            cubin = kernel.get("cubin") and (self.directory / kernel["cubin"]).read_bytes()
            ptx = (self.directory / kernel["file"]).read_bytes()
            self.functions[name] = cuda.get_function(cuda.load_module(cubin, ptx, name), name)
        if shared_memory > self.shared_memory.get(name, 48 * 1024):
            cuda.allow_shared_memory(self.functions[name], shared_memory)
            self.shared_memory[name] = shared_memory
        return self.functions[name]
