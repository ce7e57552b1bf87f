// One mixture-of-experts layer of Llama 4 Scout: 16 routed experts, one a token, and a
// shared one, the last of the stacks. The router weight, a sigmoid, multiplies the
// input of a routed expert, not its output. int8 weights with a scale for each output
// channel, activations quantized to int8 with a scale for each row.

!int8 = !moeq.scaled<i8, block = [*], scale = f32>

func.func @llama4_layer(
    %hidden: tensor<?x5120xbf16> {moeq.name = "hidden"},
    %logits: tensor<?x16xf32> {moeq.name = "logits"},
    %w13: tensor<17x16384x5120x!int8> {moeq.name = "w13"},
    %w2: tensor<17x5120x8192x!int8> {moeq.name = "w2"}) -> tensor<?x5120xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x5120xbf16>
  %init = tensor.empty(%tokens) : tensor<?x5120xbf16>
  %result = moeq.experts hidden(%hidden : tensor<?x5120xbf16>) logits(%logits : tensor<?x16xf32>)
      w13(%w13 : tensor<17x16384x5120x!int8>) w2(%w2 : tensor<17x5120x8192x!int8>)
      outs(%init : tensor<?x5120xbf16>) top_k(1) score(sigmoid) function(swiglu)
      quantize(<int8_sym> to !int8) weight_on_input shared_experts(1) -> tensor<?x5120xbf16>
  return %result : tensor<?x5120xbf16>
}
