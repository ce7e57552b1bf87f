// The layer of deepseek-v3-fp8-block.mlir with small extents: 16 routed experts, 4 a
// token out of 2 of 4 groups, and a shared one; hidden 256, FFN 128.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @deepseek_layer(
    %hidden: tensor<?x256xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x16xf32> {moeq.name = "logits"},
    %bias: tensor<16xf32> {moeq.name = "bias"},
    %w13: tensor<17x256x256x!weight> {moeq.name = "w13"},
    %w2: tensor<17x256x128x!weight> {moeq.name = "w2"}) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x256xbf16>
  %init = tensor.empty(%tokens) : tensor<?x256xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x256xbf16>) logits(%logits : tensor<?x16xf32>)
      w13(%w13 : tensor<17x256x256x!weight>) w2(%w2 : tensor<17x256x128x!weight>)
      router_bias(%bias : tensor<16xf32>) outs(%init : tensor<?x256xbf16>) top_k(4)
      score(sigmoid) renormalize scale(2.5) n_group(4) topk_group(2) group_score(top2_sum)
      function(swiglu) quantize(<deepgemm> to !act) accumulate(<promote<128>>) shared_experts(1)
      -> tensor<?x256xbf16>
  return %result : tensor<?x256xbf16>
}
