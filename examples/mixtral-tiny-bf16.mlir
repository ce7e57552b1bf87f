// A small layer of Mixtral's structure in bf16, nothing quantized: hidden 64, FFN 128.

func.func @mixtral_layer(
    %hidden: tensor<?x64xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x8xf32> {moeq.name = "logits"},
    %w13: tensor<8x256x64xbf16> {moeq.name = "w13"},
    %w2: tensor<8x64x128xbf16> {moeq.name = "w2"}) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x64xbf16>
  %init = tensor.empty(%tokens) : tensor<?x64xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x64xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x64xbf16>) w2(%w2 : tensor<8x64x128xbf16>)
      outs(%init : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu) -> tensor<?x64xbf16>
  return %result : tensor<?x64xbf16>
}
