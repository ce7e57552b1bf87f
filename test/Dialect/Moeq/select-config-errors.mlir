// RUN: moeq-opt %s -split-input-file -verify-diagnostics -moeq-select-config
// RUN: not moeq-opt %s -split-input-file -moeq-select-config=expected-rows=0 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not moeq-opt %s -split-input-file -moeq-select-config=chip=sm_13 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not moeq-opt %s -split-input-file -moeq-select-config=variants=-1 2>&1 | FileCheck %s --check-prefix=VARIANTS

// VARIANTS: error: expects positive variants, got -1
// ROWS: error: expects positive expected-rows, got 0
// CHIP: :[[@LINE+3]]:8: error: expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_13'
func.func @option(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %out: tensor<?x128xf32>)
    -> tensor<?x128xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_42">} {
  func.func @unknown_chip(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %out: tensor<?x128xf32>)
      -> tensor<?x128xf32> {
    // expected-error @below {{expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_42'}}
    %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
        outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
    return %c : tensor<?x128xf32>
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a", shared_memory = 40000>} {
  func.func @no_shared_memory(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>,
                              %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
    // expected-error @below {{'moeq.matmul' op expects shared memory for two stages of the smallest tile, got 40000 bytes on sm_90a}}
    %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
        outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
    return %c : tensor<?x128xf32>
  }
}
