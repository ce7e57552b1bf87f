// The functions of te-grouped-linear-mxfp8.mlir with small extents: 3 experts, hidden 64, FFN 96.

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// y = fc2(act(fc1(x))). For the backward pass it keeps h = fc1(x), and the transposes of x and
// act(h), quantized along the rows of each expert, which are padded to a multiple of 128.
func.func @swiglu_forward(
    %x: tensor<?x64xbf16> {moeq.name = "x"},
    %w1: tensor<3x192x64x!mx> {moeq.name = "w1"},
    %w2: tensor<3x64x96x!mx> {moeq.name = "w2"},
    %offsets: tensor<4xi32> {moeq.name = "offsets"})
    -> (tensor<?x64xbf16>, tensor<?x192xbf16>, tensor<64x?x!mx>, tensor<96x?x!mx>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 3 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %xq_init = tensor.empty(%rows) : tensor<?x64x!mx>
  %xt_init = tensor.empty(%padded) : tensor<64x?x!mx>
  %xq, %xt = moeq.quantize input(%x : tensor<?x64xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%xq_init : tensor<?x64x!mx>) columnwise(%xt_init : tensor<64x?x!mx>) recipe(<te_mx>)
      -> tensor<?x64x!mx>, tensor<64x?x!mx>
  %h_init = tensor.empty(%rows) : tensor<?x192xbf16>
  %h = moeq.grouped_matmul lhs(%xq : tensor<?x64x!mx>) rhs(%w1 : tensor<3x192x64x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%h_init : tensor<?x192xbf16>) -> tensor<?x192xbf16>
  %aq_init = tensor.empty(%rows) : tensor<?x96x!mx>
  %at_init = tensor.empty(%padded) : tensor<96x?x!mx>
  %aq, %at = moeq.act_quant input(%h : tensor<?x192xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%aq_init : tensor<?x96x!mx>) columnwise(%at_init : tensor<96x?x!mx>) function(swiglu)
      intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x96x!mx>, tensor<96x?x!mx>
  %y_init = tensor.empty(%rows) : tensor<?x64xbf16>
  %y = moeq.grouped_matmul lhs(%aq : tensor<?x96x!mx>) rhs(%w2 : tensor<3x64x96x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%y_init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %h, %xt, %at : tensor<?x64xbf16>, tensor<?x192xbf16>, tensor<64x?x!mx>, tensor<96x?x!mx>
}

// The gradients by x and the weights, which are added to what %dw1 and %dw2 hold.
// Transposed weights are quantized along N. Columns of transposed rows are counted by
// %padded_offsets, as moeq.group gives them.
func.func @swiglu_backward(
    %dy: tensor<?x64xbf16> {moeq.name = "dy"},
    %h: tensor<?x192xbf16> {moeq.name = "h"},
    %xt: tensor<64x?x!mx> {moeq.name = "xt"},
    %at: tensor<96x?x!mx> {moeq.name = "at"},
    %w1t: tensor<3x64x192x!mx> {moeq.name = "w1t"},
    %w2t: tensor<3x96x64x!mx> {moeq.name = "w2t"},
    %offsets: tensor<4xi32> {moeq.name = "offsets"},
    %padded_offsets: tensor<4xi32> {moeq.name = "padded_offsets"},
    %dw1: tensor<3x192x64xf32> {moeq.name = "dw1"},
    %dw2: tensor<3x64x96xf32> {moeq.name = "dw2"})
    -> (tensor<?x64xbf16>, tensor<3x192x64xf32>, tensor<3x64x96xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 3 : index
  %rows = tensor.dim %dy, %c0 : tensor<?x64xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %dyq_init = tensor.empty(%rows) : tensor<?x64x!mx>
  %dyt_init = tensor.empty(%padded) : tensor<64x?x!mx>
  %dyq, %dyt = moeq.quantize input(%dy : tensor<?x64xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%dyq_init : tensor<?x64x!mx>) columnwise(%dyt_init : tensor<64x?x!mx>) recipe(<te_mx>)
      -> tensor<?x64x!mx>, tensor<64x?x!mx>
  %dw2_sum = moeq.grouped_matmul lhs(%dyt : tensor<64x?x!mx>) rhs(%at : tensor<96x?x!mx>)
      offsets(%padded_offsets : tensor<4xi32>) outs(%dw2 : tensor<3x64x96xf32>) contract(rows)
      add_to_outs -> tensor<3x64x96xf32>
  %da_init = tensor.empty(%rows) : tensor<?x96xbf16>
  %da = moeq.grouped_matmul lhs(%dyq : tensor<?x64x!mx>) rhs(%w2t : tensor<3x96x64x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%da_init : tensor<?x96xbf16>) -> tensor<?x96xbf16>
  %dhq_init = tensor.empty(%rows) : tensor<?x192x!mx>
  %dht_init = tensor.empty(%padded) : tensor<192x?x!mx>
  %dhq, %dht = moeq.act_quant_grad grad(%da : tensor<?x96xbf16>) input(%h : tensor<?x192xbf16>)
      offsets(%offsets : tensor<4xi32>) outs(%dhq_init : tensor<?x192x!mx>)
      columnwise(%dht_init : tensor<192x?x!mx>) function(swiglu) intermediate_round(bf16)
      recipe(<te_mx>) -> tensor<?x192x!mx>, tensor<192x?x!mx>
  %dw1_sum = moeq.grouped_matmul lhs(%dht : tensor<192x?x!mx>) rhs(%xt : tensor<64x?x!mx>)
      offsets(%padded_offsets : tensor<4xi32>) outs(%dw1 : tensor<3x192x64xf32>) contract(rows)
      add_to_outs -> tensor<3x192x64xf32>
  %dx_init = tensor.empty(%rows) : tensor<?x64xbf16>
  %dx = moeq.grouped_matmul lhs(%dhq : tensor<?x192x!mx>) rhs(%w1t : tensor<3x64x192x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%dx_init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %dx, %dw1_sum, %dw2_sum
      : tensor<?x64xbf16>, tensor<3x192x64xf32>, tensor<3x64x96xf32>
}

// y = fc2(act(fc1(x))). For the backward pass it keeps h = fc1(x), and the transposes of x and
// act(h), quantized along the rows of each expert, which are padded to a multiple of 128.
func.func @srelu_forward(
    %x: tensor<?x64xbf16> {moeq.name = "x"},
    %w1: tensor<3x96x64x!mx> {moeq.name = "w1"},
    %w2: tensor<3x64x96x!mx> {moeq.name = "w2"},
    %offsets: tensor<4xi32> {moeq.name = "offsets"})
    -> (tensor<?x64xbf16>, tensor<?x96xbf16>, tensor<64x?x!mx>, tensor<96x?x!mx>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 3 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %xq_init = tensor.empty(%rows) : tensor<?x64x!mx>
  %xt_init = tensor.empty(%padded) : tensor<64x?x!mx>
  %xq, %xt = moeq.quantize input(%x : tensor<?x64xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%xq_init : tensor<?x64x!mx>) columnwise(%xt_init : tensor<64x?x!mx>) recipe(<te_mx>)
      -> tensor<?x64x!mx>, tensor<64x?x!mx>
  %h_init = tensor.empty(%rows) : tensor<?x96xbf16>
  %h = moeq.grouped_matmul lhs(%xq : tensor<?x64x!mx>) rhs(%w1 : tensor<3x96x64x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%h_init : tensor<?x96xbf16>) -> tensor<?x96xbf16>
  %aq_init = tensor.empty(%rows) : tensor<?x96x!mx>
  %at_init = tensor.empty(%padded) : tensor<96x?x!mx>
  %aq, %at = moeq.act_quant input(%h : tensor<?x96xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%aq_init : tensor<?x96x!mx>) columnwise(%at_init : tensor<96x?x!mx>) function(srelu)
      intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x96x!mx>, tensor<96x?x!mx>
  %y_init = tensor.empty(%rows) : tensor<?x64xbf16>
  %y = moeq.grouped_matmul lhs(%aq : tensor<?x96x!mx>) rhs(%w2 : tensor<3x64x96x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%y_init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %h, %xt, %at : tensor<?x64xbf16>, tensor<?x96xbf16>, tensor<64x?x!mx>, tensor<96x?x!mx>
}

// The gradients by x and the weights, which are added to what %dw1 and %dw2 hold.
// Transposed weights are quantized along N. Columns of transposed rows are counted by
// %padded_offsets, as moeq.group gives them.
func.func @srelu_backward(
    %dy: tensor<?x64xbf16> {moeq.name = "dy"},
    %h: tensor<?x96xbf16> {moeq.name = "h"},
    %xt: tensor<64x?x!mx> {moeq.name = "xt"},
    %at: tensor<96x?x!mx> {moeq.name = "at"},
    %w1t: tensor<3x64x96x!mx> {moeq.name = "w1t"},
    %w2t: tensor<3x96x64x!mx> {moeq.name = "w2t"},
    %offsets: tensor<4xi32> {moeq.name = "offsets"},
    %padded_offsets: tensor<4xi32> {moeq.name = "padded_offsets"},
    %dw1: tensor<3x96x64xf32> {moeq.name = "dw1"},
    %dw2: tensor<3x64x96xf32> {moeq.name = "dw2"})
    -> (tensor<?x64xbf16>, tensor<3x96x64xf32>, tensor<3x64x96xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 3 : index
  %rows = tensor.dim %dy, %c0 : tensor<?x64xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %dyq_init = tensor.empty(%rows) : tensor<?x64x!mx>
  %dyt_init = tensor.empty(%padded) : tensor<64x?x!mx>
  %dyq, %dyt = moeq.quantize input(%dy : tensor<?x64xbf16>) offsets(%offsets : tensor<4xi32>)
      outs(%dyq_init : tensor<?x64x!mx>) columnwise(%dyt_init : tensor<64x?x!mx>) recipe(<te_mx>)
      -> tensor<?x64x!mx>, tensor<64x?x!mx>
  %dw2_sum = moeq.grouped_matmul lhs(%dyt : tensor<64x?x!mx>) rhs(%at : tensor<96x?x!mx>)
      offsets(%padded_offsets : tensor<4xi32>) outs(%dw2 : tensor<3x64x96xf32>) contract(rows)
      add_to_outs -> tensor<3x64x96xf32>
  %da_init = tensor.empty(%rows) : tensor<?x96xbf16>
  %da = moeq.grouped_matmul lhs(%dyq : tensor<?x64x!mx>) rhs(%w2t : tensor<3x96x64x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%da_init : tensor<?x96xbf16>) -> tensor<?x96xbf16>
  %dhq_init = tensor.empty(%rows) : tensor<?x96x!mx>
  %dht_init = tensor.empty(%padded) : tensor<96x?x!mx>
  %dhq, %dht = moeq.act_quant_grad grad(%da : tensor<?x96xbf16>) input(%h : tensor<?x96xbf16>)
      offsets(%offsets : tensor<4xi32>) outs(%dhq_init : tensor<?x96x!mx>)
      columnwise(%dht_init : tensor<96x?x!mx>) function(srelu) intermediate_round(bf16)
      recipe(<te_mx>) -> tensor<?x96x!mx>, tensor<96x?x!mx>
  %dw1_sum = moeq.grouped_matmul lhs(%dht : tensor<96x?x!mx>) rhs(%xt : tensor<64x?x!mx>)
      offsets(%padded_offsets : tensor<4xi32>) outs(%dw1 : tensor<3x96x64xf32>) contract(rows)
      add_to_outs -> tensor<3x96x64xf32>
  %dx_init = tensor.empty(%rows) : tensor<?x64xbf16>
  %dx = moeq.grouped_matmul lhs(%dhq : tensor<?x96x!mx>) rhs(%w1t : tensor<3x64x96x!mx>)
      offsets(%offsets : tensor<4xi32>) outs(%dx_init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %dx, %dw1_sum, %dw2_sum
      : tensor<?x64xbf16>, tensor<3x96x64xf32>, tensor<3x64x96xf32>
}
