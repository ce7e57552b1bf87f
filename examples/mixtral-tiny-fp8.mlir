// The layer of mixtral-8x7b-fp8.mlir with small extents: hidden 64, FFN 128.

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @mixtral_layer(
    %hidden: tensor<?x64xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x256x64x!act> {moeq.name = "w13"},
    %w2: tensor<8x64x128x!act> {moeq.name = "w2"}) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x64xbf16>
  %init = tensor.empty(%tokens) : tensor<?x64xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x64x!act>) w2(%w2 : tensor<8x64x128x!act>)
      outs(%init : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu)
      quantize(<vllm_token> to !act) accumulate(<fast>) -> tensor<?x64xbf16>
  return %result : tensor<?x64xbf16>
}
