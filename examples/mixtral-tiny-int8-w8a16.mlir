// The layer of mixtral-8x7b-int8-w8a16.mlir with small extents: hidden 64, FFN 128.

!weight = !moeq.scaled<i8, block = [*], scale = bf16, packing = fragments>

func.func @mixtral_layer(
    %hidden: tensor<?x64xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x256x64x!weight> {moeq.name = "w13"},
    %w2: tensor<8x64x128x!weight> {moeq.name = "w2"}) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x64xbf16>
  %init = tensor.empty(%tokens) : tensor<?x64xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x64x!weight>) w2(%w2 : tensor<8x64x128x!weight>)
      outs(%init : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu) -> tensor<?x64xbf16>
  return %result : tensor<?x64xbf16>
}
