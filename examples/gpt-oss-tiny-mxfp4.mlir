// The layer of gpt-oss-mxfp4.mlir with small extents: 8 experts, hidden 128, FFN 128.

!weight = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU, packing = fragments>

func.func @gpt_oss_layer(
    %hidden: tensor<?x128xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x256x128x!weight> {moeq.name = "w13"},
    %w2: tensor<8x128x128x!weight> {moeq.name = "w2"},
    %bias13: tensor<8x256xf32> {moeq.name = "bias13"},
    %bias2: tensor<8x128xf32> {moeq.name = "bias2"}) -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x128xbf16>
  %init = tensor.empty(%tokens) : tensor<?x128xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x128xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x128x!weight>) w2(%w2 : tensor<8x128x128x!weight>)
      bias13(%bias13 : tensor<8x256xf32>)
      bias2(%bias2 : tensor<8x128xf32>)
      outs(%init : tensor<?x128xbf16>) top_k(4) renormalize function(clamped_swiglu)
      gate_layout(interleaved) limit(7.0) alpha(1.702) -> tensor<?x128xbf16>
  return %result : tensor<?x128xbf16>
}
