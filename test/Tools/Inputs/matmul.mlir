!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @project(%rows: tensor<?x512x!act> {moeq.name = "rows"},
                   %weight: tensor<8x1024x512x!act> {moeq.name = "weight"},
                   %offsets: tensor<9xi32> {moeq.name = "offsets"}) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %rows, %c0 : tensor<?x512x!act>
  %init = tensor.empty(%count) : tensor<?x1024xbf16>
  %result = moeq.grouped_matmul lhs(%rows : tensor<?x512x!act>) rhs(%weight : tensor<8x1024x512x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x1024xbf16>) accumulate(<fast>) -> tensor<?x1024xbf16>
  return %result : tensor<?x1024xbf16>
}
