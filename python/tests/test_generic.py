"""The reader of MLIR's generic form, on which the op-by-op check rests."""

from pathlib import Path

import moeq
from reference.evaluate import operand_groups, options
from reference.generic import parse, split

TINY = Path(__file__).parents[2] / "examples" / "mixtral-tiny-fp8.mlir"


def test_split():
    assert split("a<b, c>, (d, e), f -> g, 'h'") == ["a<b, c>", "(d, e)", "f -> g", "'h'"]
    assert split('"x, y", z') == ['"x, y"', "z"]
    assert split("") == []


def test_layer():
    module = parse(moeq.parse(TINY.read_text()).print(generic=True))
    (function,) = module.regions[0][0].ops
    *_, experts, end = function.regions[0][0].ops
    assert end.name == "func.return" and end.operands == experts.results
    groups = operand_groups(experts, {name: name for name in experts.operands})
    arguments = [name for name, _ in function.regions[0][0].arguments]
    assert [groups[g] for g in ("hidden", "logits", "w13", "w2")] == arguments
    assert groups["bias13"] is None
    found = options(experts, ("top_k", "function", "renormalize", "act_format", "recipe"))
    assert found["top_k"] == 2 and found["function"] == "swiglu" and found["renormalize"]
    assert found["recipe"].amax_floor == 2.0**-9 and found["act_format"].value == "f8E4M3FN"


def test_regions_and_several_results():
    text = """
    func.func @f(%a: tensor<4x8xf32>, %b: tensor<2x8xf32>, %c: tensor<4x2xf32>) {
      %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<2x8xf32>)
          outs(%c : tensor<4x2xf32>) epilogue {
        ^bb0(%acc: f32, %row: index, %col: index):
          %r = arith.addf %acc, %acc : f32
          moeq.yield %r : f32
      } -> tensor<4x2xf32>
      %l = tensor.empty() : tensor<4x8xf32>
      %i = tensor.empty() : tensor<4x2xi32>
      %1:2 = moeq.route logits(%l : tensor<4x8xf32>)
          outs(%i, %0 : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
      return
    }"""
    module = parse(moeq.parse(text).print(generic=True))
    ops = module.regions[0][0].ops[0].regions[0][0].ops
    matmul, route = ops[0], ops[3]
    block = matmul.regions[0][0]
    assert [op.name for op in block.ops] == ["arith.addf", "moeq.yield"]
    assert [type_ for _, type_ in block.arguments] == ["f32", "index", "index"]
    assert [r.split("#")[1] for r in route.results] == ["0", "1"]
    assert route.result_types == ["tensor<4x2xi32>", "tensor<4x2xf32>"]
