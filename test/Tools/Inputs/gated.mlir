!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @up(%rows: tensor<?x1024x!act> {moeq.name = "rows"},
              %weight: tensor<8x1024x1024x!act> {moeq.name = "weight"},
              %offsets: tensor<9xi32> {moeq.name = "offsets"}) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %rows, %c0 : tensor<?x1024x!act>
  %init = tensor.empty(%count) : tensor<?x1024xbf16>
  %half = tensor.empty(%count) : tensor<?x512xbf16>
  %product = moeq.grouped_matmul lhs(%rows : tensor<?x1024x!act>) rhs(%weight : tensor<8x1024x1024x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x1024xbf16>) accumulate(<fast>) -> tensor<?x1024xbf16>
  %result = moeq.activate input(%product : tensor<?x1024xbf16>) outs(%half : tensor<?x512xbf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x512xbf16>
  return %result : tensor<?x512xbf16>
}
