// One mixture-of-experts layer of DeepSeek-V3: 256 routed experts, 8 a token, chosen
// by sigmoid scores with a bias among the experts of 4 out of 8 groups; FP8 weights
// with a scale for each 128 x 128 block, activations for each 128 elements.
//
// The recipe is deepgemm, by which this model's inference quantizes its
// activations: amax no smaller than 1e-4, scale = amax / 448, x * (1 / scale). The
// sum of each 128 elements of K goes to a second f32 accumulator.
//
// The model adds a shared expert; `shared_experts` would append it to w13 and w2.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @deepseek_layer(
    %hidden: tensor<?x7168xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x256xf32> {moeq.name = "logits"},
    %bias: tensor<256xf32> {moeq.name = "bias"},
    %w13: tensor<256x4096x7168x!weight> {moeq.name = "w13"},
    %w2: tensor<256x7168x2048x!weight> {moeq.name = "w2"}) -> tensor<?x7168xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x7168xbf16>
  %init = tensor.empty(%tokens) : tensor<?x7168xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x7168xbf16>) logits(%logits : tensor<?x256xf32>)
      w13(%w13 : tensor<256x4096x7168x!weight>) w2(%w2 : tensor<256x7168x2048x!weight>)
      router_bias(%bias : tensor<256xf32>) outs(%init : tensor<?x7168xbf16>) top_k(8)
      score(sigmoid) renormalize scale(2.5) n_group(8) topk_group(4) group_score(top2_sum)
      function(swiglu) quantize(<deepgemm> to !act) accumulate(<promote<128>>)
      -> tensor<?x7168xbf16>
  return %result : tensor<?x7168xbf16>
}
