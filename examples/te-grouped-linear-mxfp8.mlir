// The experts of a layer in training, as Transformer Engine's grouped linear in MXFP8: 8 experts,
// hidden 4096, FFN 8192, around SwiGLU and around squared ReLU. Rows are sorted by expert.

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// y = fc2(act(fc1(x))). For the backward pass it keeps h = fc1(x), and the transposes of x and
// act(h), quantized along the rows of each expert, which are padded to a multiple of 128.
func.func @swiglu_forward(
    %x: tensor<?x4096xbf16> {moeq.name = "x"},
    %w1: tensor<8x16384x4096x!mx> {moeq.name = "w1"},
    %w2: tensor<8x4096x8192x!mx> {moeq.name = "w2"},
    %offsets: tensor<9xi32> {moeq.name = "offsets"})
    -> (tensor<?x4096xbf16>, tensor<?x16384xbf16>, tensor<4096x?x!mx>, tensor<8192x?x!mx>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 8 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %xq_init = tensor.empty(%rows) : tensor<?x4096x!mx>
  %xt_init = tensor.empty(%padded) : tensor<4096x?x!mx>
  %xq, %xt = moeq.quantize input(%x : tensor<?x4096xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%xq_init : tensor<?x4096x!mx>) columnwise(%xt_init : tensor<4096x?x!mx>) recipe(<te_mx>)
      -> tensor<?x4096x!mx>, tensor<4096x?x!mx>
  %h_init = tensor.empty(%rows) : tensor<?x16384xbf16>
  %h = moeq.grouped_matmul lhs(%xq : tensor<?x4096x!mx>) rhs(%w1 : tensor<8x16384x4096x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%h_init : tensor<?x16384xbf16>) -> tensor<?x16384xbf16>
  %aq_init = tensor.empty(%rows) : tensor<?x8192x!mx>
  %at_init = tensor.empty(%padded) : tensor<8192x?x!mx>
  %aq, %at = moeq.act_quant input(%h : tensor<?x16384xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%aq_init : tensor<?x8192x!mx>) columnwise(%at_init : tensor<8192x?x!mx>) function(swiglu)
      intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x8192x!mx>, tensor<8192x?x!mx>
  %y_init = tensor.empty(%rows) : tensor<?x4096xbf16>
  %y = moeq.grouped_matmul lhs(%aq : tensor<?x8192x!mx>) rhs(%w2 : tensor<8x4096x8192x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%y_init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %y, %h, %xt, %at : tensor<?x4096xbf16>, tensor<?x16384xbf16>, tensor<4096x?x!mx>, tensor<8192x?x!mx>
}

// The gradients by x and the weights, which are added to what %dw1 and %dw2 hold.
// Transposed weights are quantized along N. Columns of transposed rows are counted by
// %padded_offsets, as moeq.group gives them.
func.func @swiglu_backward(
    %dy: tensor<?x4096xbf16> {moeq.name = "dy"},
    %h: tensor<?x16384xbf16> {moeq.name = "h"},
    %xt: tensor<4096x?x!mx> {moeq.name = "xt"},
    %at: tensor<8192x?x!mx> {moeq.name = "at"},
    %w1t: tensor<8x4096x16384x!mx> {moeq.name = "w1t"},
    %w2t: tensor<8x8192x4096x!mx> {moeq.name = "w2t"},
    %offsets: tensor<9xi32> {moeq.name = "offsets"},
    %padded_offsets: tensor<9xi32> {moeq.name = "padded_offsets"},
    %dw1: tensor<8x16384x4096xf32> {moeq.name = "dw1"},
    %dw2: tensor<8x4096x8192xf32> {moeq.name = "dw2"})
    -> (tensor<?x4096xbf16>, tensor<8x16384x4096xf32>, tensor<8x4096x8192xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 8 : index
  %rows = tensor.dim %dy, %c0 : tensor<?x4096xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %dyq_init = tensor.empty(%rows) : tensor<?x4096x!mx>
  %dyt_init = tensor.empty(%padded) : tensor<4096x?x!mx>
  %dyq, %dyt = moeq.quantize input(%dy : tensor<?x4096xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%dyq_init : tensor<?x4096x!mx>) columnwise(%dyt_init : tensor<4096x?x!mx>) recipe(<te_mx>)
      -> tensor<?x4096x!mx>, tensor<4096x?x!mx>
  %dw2_sum = moeq.grouped_matmul lhs(%dyt : tensor<4096x?x!mx>) rhs(%at : tensor<8192x?x!mx>)
      offsets(%padded_offsets : tensor<9xi32>) outs(%dw2 : tensor<8x4096x8192xf32>) contract(rows)
      add_to_outs -> tensor<8x4096x8192xf32>
  %da_init = tensor.empty(%rows) : tensor<?x8192xbf16>
  %da = moeq.grouped_matmul lhs(%dyq : tensor<?x4096x!mx>) rhs(%w2t : tensor<8x8192x4096x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%da_init : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
  %dhq_init = tensor.empty(%rows) : tensor<?x16384x!mx>
  %dht_init = tensor.empty(%padded) : tensor<16384x?x!mx>
  %dhq, %dht = moeq.act_quant_grad grad(%da : tensor<?x8192xbf16>) input(%h : tensor<?x16384xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%dhq_init : tensor<?x16384x!mx>)
      columnwise(%dht_init : tensor<16384x?x!mx>) function(swiglu) intermediate_round(bf16)
      recipe(<te_mx>) -> tensor<?x16384x!mx>, tensor<16384x?x!mx>
  %dw1_sum = moeq.grouped_matmul lhs(%dht : tensor<16384x?x!mx>) rhs(%xt : tensor<4096x?x!mx>)
      offsets(%padded_offsets : tensor<9xi32>) outs(%dw1 : tensor<8x16384x4096xf32>) contract(rows)
      add_to_outs -> tensor<8x16384x4096xf32>
  %dx_init = tensor.empty(%rows) : tensor<?x4096xbf16>
  %dx = moeq.grouped_matmul lhs(%dhq : tensor<?x16384x!mx>) rhs(%w1t : tensor<8x4096x16384x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%dx_init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %dx, %dw1_sum, %dw2_sum
      : tensor<?x4096xbf16>, tensor<8x16384x4096xf32>, tensor<8x4096x8192xf32>
}

// y = fc2(act(fc1(x))). For the backward pass it keeps h = fc1(x), and the transposes of x and
// act(h), quantized along the rows of each expert, which are padded to a multiple of 128.
func.func @srelu_forward(
    %x: tensor<?x4096xbf16> {moeq.name = "x"},
    %w1: tensor<8x8192x4096x!mx> {moeq.name = "w1"},
    %w2: tensor<8x4096x8192x!mx> {moeq.name = "w2"},
    %offsets: tensor<9xi32> {moeq.name = "offsets"})
    -> (tensor<?x4096xbf16>, tensor<?x8192xbf16>, tensor<4096x?x!mx>, tensor<8192x?x!mx>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 8 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %xq_init = tensor.empty(%rows) : tensor<?x4096x!mx>
  %xt_init = tensor.empty(%padded) : tensor<4096x?x!mx>
  %xq, %xt = moeq.quantize input(%x : tensor<?x4096xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%xq_init : tensor<?x4096x!mx>) columnwise(%xt_init : tensor<4096x?x!mx>) recipe(<te_mx>)
      -> tensor<?x4096x!mx>, tensor<4096x?x!mx>
  %h_init = tensor.empty(%rows) : tensor<?x8192xbf16>
  %h = moeq.grouped_matmul lhs(%xq : tensor<?x4096x!mx>) rhs(%w1 : tensor<8x8192x4096x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%h_init : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
  %aq_init = tensor.empty(%rows) : tensor<?x8192x!mx>
  %at_init = tensor.empty(%padded) : tensor<8192x?x!mx>
  %aq, %at = moeq.act_quant input(%h : tensor<?x8192xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%aq_init : tensor<?x8192x!mx>) columnwise(%at_init : tensor<8192x?x!mx>) function(srelu)
      intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x8192x!mx>, tensor<8192x?x!mx>
  %y_init = tensor.empty(%rows) : tensor<?x4096xbf16>
  %y = moeq.grouped_matmul lhs(%aq : tensor<?x8192x!mx>) rhs(%w2 : tensor<8x4096x8192x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%y_init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %y, %h, %xt, %at : tensor<?x4096xbf16>, tensor<?x8192xbf16>, tensor<4096x?x!mx>, tensor<8192x?x!mx>
}

// The gradients by x and the weights, which are added to what %dw1 and %dw2 hold.
// Transposed weights are quantized along N. Columns of transposed rows are counted by
// %padded_offsets, as moeq.group gives them.
func.func @srelu_backward(
    %dy: tensor<?x4096xbf16> {moeq.name = "dy"},
    %h: tensor<?x8192xbf16> {moeq.name = "h"},
    %xt: tensor<4096x?x!mx> {moeq.name = "xt"},
    %at: tensor<8192x?x!mx> {moeq.name = "at"},
    %w1t: tensor<8x4096x8192x!mx> {moeq.name = "w1t"},
    %w2t: tensor<8x8192x4096x!mx> {moeq.name = "w2t"},
    %offsets: tensor<9xi32> {moeq.name = "offsets"},
    %padded_offsets: tensor<9xi32> {moeq.name = "padded_offsets"},
    %dw1: tensor<8x8192x4096xf32> {moeq.name = "dw1"},
    %dw2: tensor<8x4096x8192xf32> {moeq.name = "dw2"})
    -> (tensor<?x4096xbf16>, tensor<8x8192x4096xf32>, tensor<8x4096x8192xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %experts = arith.constant 8 : index
  %rows = tensor.dim %dy, %c0 : tensor<?x4096xbf16>
  %tiles = arith.divui %rows, %c128 : index
  %most_tiles = arith.addi %tiles, %experts : index
  %padded = arith.muli %most_tiles, %c128 : index
  %dyq_init = tensor.empty(%rows) : tensor<?x4096x!mx>
  %dyt_init = tensor.empty(%padded) : tensor<4096x?x!mx>
  %dyq, %dyt = moeq.quantize input(%dy : tensor<?x4096xbf16>) offsets(%offsets : tensor<9xi32>)
      outs(%dyq_init : tensor<?x4096x!mx>) columnwise(%dyt_init : tensor<4096x?x!mx>) recipe(<te_mx>)
      -> tensor<?x4096x!mx>, tensor<4096x?x!mx>
  %dw2_sum = moeq.grouped_matmul lhs(%dyt : tensor<4096x?x!mx>) rhs(%at : tensor<8192x?x!mx>)
      offsets(%padded_offsets : tensor<9xi32>) outs(%dw2 : tensor<8x4096x8192xf32>) contract(rows)
      add_to_outs -> tensor<8x4096x8192xf32>
  %da_init = tensor.empty(%rows) : tensor<?x8192xbf16>
  %da = moeq.grouped_matmul lhs(%dyq : tensor<?x4096x!mx>) rhs(%w2t : tensor<8x8192x4096x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%da_init : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
  %dhq_init = tensor.empty(%rows) : tensor<?x8192x!mx>
  %dht_init = tensor.empty(%padded) : tensor<8192x?x!mx>
  %dhq, %dht = moeq.act_quant_grad grad(%da : tensor<?x8192xbf16>) input(%h : tensor<?x8192xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%dhq_init : tensor<?x8192x!mx>)
      columnwise(%dht_init : tensor<8192x?x!mx>) function(srelu) intermediate_round(bf16)
      recipe(<te_mx>) -> tensor<?x8192x!mx>, tensor<8192x?x!mx>
  %dw1_sum = moeq.grouped_matmul lhs(%dht : tensor<8192x?x!mx>) rhs(%xt : tensor<4096x?x!mx>)
      offsets(%padded_offsets : tensor<9xi32>) outs(%dw1 : tensor<8x8192x4096xf32>) contract(rows)
      add_to_outs -> tensor<8x8192x4096xf32>
  %dx_init = tensor.empty(%rows) : tensor<?x4096xbf16>
  %dx = moeq.grouped_matmul lhs(%dhq : tensor<?x8192x!mx>) rhs(%w1t : tensor<8x4096x8192x!mx>)
      offsets(%offsets : tensor<9xi32>) outs(%dx_init : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %dx, %dw1_sum, %dw2_sum
      : tensor<?x4096xbf16>, tensor<8x8192x4096xf32>, tensor<8x4096x8192xf32>
}
