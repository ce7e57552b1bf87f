// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
// CHECK-DAG: !moeq.scaled<f8E4M3FN, block = [*], scale = f32, packing = fragments>
!q = !moeq.scaled<f8E4M3FN, block = [*], scale = f32, packing = fragments>

// CHECK-LABEL: @weight
// CHECK: moeq.prepack input(%{{.*}} : tensor<8x256x64x!{{.*}}>) outs(%{{.*}} : tensor<8x256x64x!{{.*}}>) from(gate_first) to(interleaved_64) -> tensor<8x256x64x!{{.*}}>
func.func @weight(%w: tensor<8x256x64x!a>, %p: tensor<8x256x64x!a>) -> tensor<8x256x64x!a> {
  %0 = moeq.prepack input(%w : tensor<8x256x64x!a>) outs(%p : tensor<8x256x64x!a>)
      from(gate_first) to(interleaved_64) -> tensor<8x256x64x!a>
  return %0 : tensor<8x256x64x!a>
}

// CHECK-LABEL: @components
// CHECK: moeq.prepack input(%{{.*}}, %{{.*}} : memref<?x?x64xf8E4M3FN>, memref<?x?x1xf32> as !{{.*}}) outs(%{{.*}}, %{{.*}} : memref<?x?x64xf8E4M3FN>, memref<?x?x1xf32> as !{{.*}}) from(interleaved_64) to(up_first){{$}}
func.func @components(%v: memref<?x?x64xf8E4M3FN>, %s: memref<?x?x1xf32>, %pv: memref<?x?x64xf8E4M3FN>, %ps: memref<?x?x1xf32>) {
  moeq.prepack input(%v, %s : memref<?x?x64xf8E4M3FN>, memref<?x?x1xf32> as !a)
      outs(%pv, %ps : memref<?x?x64xf8E4M3FN>, memref<?x?x1xf32> as !a) from(interleaved_64) to(up_first)
  return
}

// CHECK-LABEL: @bias
// CHECK: moeq.prepack input(%{{.*}} : tensor<8x256xf32>) outs(%{{.*}} : tensor<8x256xf32>) from(up_first) to(interleaved) -> tensor<8x256xf32>
func.func @bias(%b: tensor<8x256xf32>, %p: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %0 = moeq.prepack input(%b : tensor<8x256xf32>) outs(%p : tensor<8x256xf32>) from(up_first) to(interleaved)
      -> tensor<8x256xf32>
  return %0 : tensor<8x256xf32>
}

// CHECK-LABEL: @packed
// CHECK: moeq.prepack input(%{{.*}} : tensor<8x256x64x!{{.*}}>) outs(%{{.*}} : tensor<8x256x64x!{{.*}}>) -> tensor<8x256x64x!{{.*}}>
func.func @packed(%w: tensor<8x256x64x!a>, %p: tensor<8x256x64x!q>) -> tensor<8x256x64x!q> {
  %0 = moeq.prepack input(%w : tensor<8x256x64x!a>) outs(%p : tensor<8x256x64x!q>) -> tensor<8x256x64x!q>
  return %0 : tensor<8x256x64x!q>
}
