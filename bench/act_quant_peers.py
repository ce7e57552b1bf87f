"""What a framework does for the same results as `act_quant` with columnwise and padded scales:
PyTorch's own code, compiled by torch.compile. Groups are equal and known on the host."""

import torch
from torch.nn import functional

from act_quant_cases import GROUPS, ROW_TILE, Case

BLOCK = 32


def activate(x: torch.Tensor, function: str) -> torch.Tensor:
    """SwiGLU of [gate, up], or squared ReLU, of bf16 in f32, rounded to bf16."""
    if function == "swiglu":
        gate, up = x.float().chunk(2, dim=-1)
        return (functional.silu(gate) * up).to(x.dtype)
    return functional.relu(x.float()).square().to(x.dtype)


def quantize(blocks: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """MXFP8 of blocks that span `dim`: codes, and E8M0 scales of which the dimension is gone."""
    blocks = blocks.float()
    bits = (blocks.abs().amax(dim) * (1 / 448)).view(torch.int32)
    scales = ((bits >> 23) + ((bits & 0x7FFFFF) != 0)).to(torch.uint8)
    inverse = ((254 - scales.int()) << 23).view(torch.float32)
    codes = (blocks * inverse.unsqueeze(dim)).clamp(-448, 448).to(torch.float8_e4m3fn)
    return codes, scales


def quantize_both(values: torch.Tensor, is_transposed: bool) -> tuple[torch.Tensor, ...]:
    """Codes and scales along the rows, then along the columns."""
    rows, columns = values.shape
    codes, scales = quantize(values.view(rows, columns // BLOCK, BLOCK), 2)
    by_column, column_scales = quantize(values.view(rows // BLOCK, BLOCK, columns), 1)
    by_column = by_column.view(rows, columns)
    if is_transposed:
        by_column, column_scales = by_column.t().contiguous(), column_scales.t().contiguous()
    return codes.view(rows, columns), scales, by_column, column_scales


def swizzle(scales: torch.Tensor) -> torch.Tensor:
    """Tiles of 128 x 4, as a block-scaled matmul reads them."""
    *outer, rows, columns = scales.shape
    tiles = scales.view(*outer, rows // 128, 4, 32, columns // 4, 4)
    return tiles.transpose(-4, -2).transpose(-5, -4).contiguous()


def pad_rowwise(scales: torch.Tensor) -> torch.Tensor:
    """[rows, blocks] to each group's rows padded to 128, swizzled."""
    groups = scales.view(GROUPS, -1, scales.shape[1])
    return swizzle(functional.pad(groups, (0, 0, 0, -groups.shape[1] % ROW_TILE)))


def pad_columnwise(scales: torch.Tensor, is_transposed: bool) -> torch.Tensor:
    """Each group's blocks of rows padded to those of 128 rows; transposed ones swizzled."""
    step = ROW_TILE // BLOCK
    if is_transposed:
        groups = scales.view(scales.shape[0], GROUPS, -1)
        padded = functional.pad(groups, (0, -groups.shape[2] % step))
        return swizzle(padded.reshape(scales.shape[0], -1))
    groups = scales.view(GROUPS, -1, scales.shape[1])
    return functional.pad(groups, (0, 0, 0, -groups.shape[1] % step))


def functions(case: Case, x: torch.Tensor, counts: list[int]) -> dict:
    """By name: `unfused`, an activation, a quantization and two kernels that pad scales; `fused`,
    the first two in one; `padding`, the last two alone."""
    assert len(set(counts)) == 1 and counts[0] % BLOCK == 0, "groups are equal, of whole blocks"
    is_transposed = case.columnwise == "transposed"
    activation = torch.compile(lambda x: activate(x, case.function))
    quantization = torch.compile(lambda values: quantize_both(values, is_transposed))
    fused = torch.compile(lambda x: quantize_both(activate(x, case.function), is_transposed))
    by_row = torch.compile(pad_rowwise)
    by_column = torch.compile(lambda scales: pad_columnwise(scales, is_transposed))

    def pad(results):
        return by_row(results[1]), by_column(results[3])

    made = fused(x)
    return {
        "unfused": lambda _: pad(quantization(activation(x))),
        "fused": lambda _: pad(fused(x)),
        "padding": lambda _: pad(made),
    }
