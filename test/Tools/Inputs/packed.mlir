!w = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @project(%rows: tensor<?x512xbf16> {moeq.name = "rows"},
                   %weight: tensor<8x1024x512x!w> {moeq.name = "weight"},
                   %offsets: tensor<9xi32> {moeq.name = "offsets"}) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %rows, %c0 : tensor<?x512xbf16>
  %init = tensor.empty(%count) : tensor<?x1024xbf16>
  %result = moeq.grouped_matmul lhs(%rows : tensor<?x512xbf16>) rhs(%weight : tensor<8x1024x512x!w>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x1024xbf16>)
      config(<tile = [64, 128], stages = 5, schedule = dynamic, swap_ab = true>) -> tensor<?x1024xbf16>
  return %result : tensor<?x1024xbf16>
}
