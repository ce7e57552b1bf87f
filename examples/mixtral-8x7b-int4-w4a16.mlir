// One mixture-of-experts layer of Mixtral 8x7B: unsigned 4-bit weights in groups of 128
// along K, each with a bf16 scale and an integer zero point, as AWQ writes them; bf16
// activations. The scale is applied to the partial sum of its group.

!weight = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8, packing = fragments>

func.func @mixtral_layer(
    %hidden: tensor<?x4096xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x28672x4096x!weight> {moeq.name = "w13"},
    %w2: tensor<8x4096x14336x!weight> {moeq.name = "w2"}) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x4096xbf16>
  %init = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x4096xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x28672x4096x!weight>) w2(%w2 : tensor<8x4096x14336x!weight>)
      outs(%init : tensor<?x4096xbf16>) top_k(2) renormalize function(swiglu) -> tensor<?x4096xbf16>
  return %result : tensor<?x4096xbf16>
}
