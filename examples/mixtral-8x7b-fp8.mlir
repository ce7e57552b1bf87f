// One mixture-of-experts layer of Mixtral 8x7B: FP8 weights with a scale for each
// output channel, activations quantized to FP8 with a scale for each token.
//
// The recipe is vllm_token, the arithmetic that FP8 per-token checkpoints of this
// model are served with: scale = amax / 448, no smaller than 1 / (448 * 512), so
// that a row of zeros gives zeros.

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @mixtral_layer(
    %hidden: tensor<?x4096xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x28672x4096x!act> {moeq.name = "w13"},
    %w2: tensor<8x4096x14336x!act> {moeq.name = "w2"}) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x4096xbf16>
  %init = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x4096xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x28672x4096x!act>) w2(%w2 : tensor<8x4096x14336x!act>)
      outs(%init : tensor<?x4096xbf16>) top_k(2) renormalize function(swiglu)
      quantize(<vllm_token> to !act) accumulate(<fast>) -> tensor<?x4096xbf16>
  return %result : tensor<?x4096xbf16>
}
