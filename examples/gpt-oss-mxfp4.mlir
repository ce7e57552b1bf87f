// One mixture-of-experts layer of gpt-oss-120b: 128 experts, 4 a token; MXFP4 weights,
// bf16 activations, a bias for each expert and matmul. The gate and up columns are
// interleaved, the activation is a clamped SwiGLU. A softmax over the logits of the
// chosen experts is a softmax over all, renormalized; the router's bias is in the logits.

!weight = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU, packing = fragments>

func.func @gpt_oss_layer(
    %hidden: tensor<?x2880xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x128xf32> {moeq.name = "logits"},
    %w13: tensor<128x5760x2880x!weight> {moeq.name = "w13"},
    %w2: tensor<128x2880x2880x!weight> {moeq.name = "w2"},
    %bias13: tensor<128x5760xf32> {moeq.name = "bias13"},
    %bias2: tensor<128x2880xf32> {moeq.name = "bias2"}) -> tensor<?x2880xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x2880xbf16>
  %init = tensor.empty(%tokens) : tensor<?x2880xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x2880xbf16>) logits(%logits : tensor<?x128xf32>)
      w13(%w13 : tensor<128x5760x2880x!weight>) w2(%w2 : tensor<128x2880x2880x!weight>)
      bias13(%bias13 : tensor<128x5760xf32>)
      bias2(%bias2 : tensor<128x2880xf32>)
      outs(%init : tensor<?x2880xbf16>) top_k(4) renormalize function(clamped_swiglu)
      gate_layout(interleaved) limit(7.0) alpha(1.702) -> tensor<?x2880xbf16>
  return %result : tensor<?x2880xbf16>
}
