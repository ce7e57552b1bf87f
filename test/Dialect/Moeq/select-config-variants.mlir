// RUN: moeq-opt %s -moeq-select-config=variants=3 --remarks-filter=moeq-select-config 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: moeq-opt %s -moeq-select-config=variants=1 | FileCheck %s --check-prefix=ONE
// RUN: moeq-opt %s -moeq-to-kernels=variants=2 | FileCheck %s --check-prefix=KERNELS

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Dynamic rows: a kernel for few, one for more, one for many.

// CHECK-LABEL: func @dynamic_rows(
// CHECK:       %[[ROWS:.*]] = tensor.dim %arg3
// CHECK:       %[[FEW:.*]] = arith.constant {{[0-9]+}} : index
// CHECK:       %[[IS_FEW:.*]] = arith.cmpi ule, %[[ROWS]], %[[FEW]]
// CHECK:       %[[RESULT:.*]] = scf.if %[[IS_FEW]] -> (tensor<?x14336xbf16>) {
// CHECK:         %[[COPY:.*]] = moeq.grouped_matmul {{.*}} config(<tile = [64, {{.*}} swap_ab = true
// CHECK:         scf.yield %[[COPY]]
// CHECK:       } else {
// CHECK:         arith.cmpi ule, %[[ROWS]]
// CHECK:         scf.if
// CHECK:           moeq.grouped_matmul {{.*}} config(<tile =
// CHECK:           moeq.grouped_matmul {{.*}} config(<tile =
// CHECK:       return %[[RESULT]]
// REMARK: remark: {{.*}}"8 groups, N 14336, K 4096 on sm_90a: #moeq.config<{{[^>]*}}> up to {{[0-9]+}} rows; #moeq.config<{{[^>]*}}> up to {{[0-9]+}} rows; #moeq.config<
// ONE-LABEL:   func @dynamic_rows(
// ONE-NOT:     scf.if
// KERNELS-LABEL: func @dynamic_rows(
// KERNELS:       scf.if
// KERNELS:         gpu.launch_func
// KERNELS:       else
// KERNELS:         gpu.launch_func
func.func @dynamic_rows(%a: tensor<?x4096x!act>, %w: tensor<8x14336x4096x!act>,
                        %offsets: tensor<9xi32>, %out: tensor<?x14336xbf16>)
    -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!act>) rhs(%w : tensor<8x14336x4096x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// On memrefs there is no result.

// CHECK-LABEL: func @memrefs(
// CHECK:       memref.dim %arg3
// CHECK:       scf.if
// CHECK-NEXT:    moeq.grouped_matmul
// CHECK-NEXT:  } else {
func.func @memrefs(%a: memref<?x4096xbf16>, %w: memref<8x7168x4096xbf16>, %offsets: memref<9xi32>,
                   %out: memref<?x7168xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x4096xbf16>) rhs(%w : memref<8x7168x4096xbf16>)
      offsets(%offsets : memref<9xi32>) outs(%out : memref<?x7168xbf16>)
  return
}

// Static rows need no choice, and a config that is there wins.

// CHECK-LABEL: func @static_rows(
// CHECK-NOT:   scf.if
func.func @static_rows(%a: tensor<64x4096xbf16>, %w: tensor<8x7168x4096xbf16>,
                       %offsets: tensor<9xi32>, %out: tensor<64x7168xbf16>) -> tensor<64x7168xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<64x4096xbf16>) rhs(%w : tensor<8x7168x4096xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<64x7168xbf16>) -> tensor<64x7168xbf16>
  return %c : tensor<64x7168xbf16>
}
