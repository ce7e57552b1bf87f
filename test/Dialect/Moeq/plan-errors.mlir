// RUN: moeq-opt %s -verify-diagnostics -moeq-plan=min-tile=1

module attributes {moeq.target = #moeq.target<chip = "sm_42">} {
  func.func @unknown_chip(%o: tensor<9xi32>, %a: tensor<?x64xbf16>, %w: tensor<8x64x64xbf16>,
                          %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    // expected-error @below {{expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_42'}}
    %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<8x64x64xbf16>)
        offsets(%o : tensor<9xi32>) outs(%out : tensor<?x64xbf16>)
        config(<tile = [64, 128], swap_ab = true>) -> tensor<?x64xbf16>
    return %c : tensor<?x64xbf16>
  }
}
