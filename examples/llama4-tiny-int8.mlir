// The layer of llama4-scout-int8.mlir with small extents: hidden 64, FFN 128.

!int8 = !moeq.scaled<i8, block = [*], scale = f32>

func.func @llama4_layer(
    %hidden: tensor<?x64xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x16xf32> {moeq.name = "logits"},
    %w13: tensor<17x256x64x!int8> {moeq.name = "w13"},
    %w2: tensor<17x64x128x!int8> {moeq.name = "w2"}) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x64xbf16>
  %init = tensor.empty(%tokens) : tensor<?x64xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x16xf32>)
      w13(%w13 : tensor<17x256x64x!int8>) w2(%w2 : tensor<17x64x128x!int8>)
      outs(%init : tensor<?x64xbf16>) top_k(1) score(sigmoid) function(swiglu)
      quantize(<int8_sym> to !int8) weight_on_input shared_experts(1) -> tensor<?x64xbf16>
  return %result : tensor<?x64xbf16>
}
