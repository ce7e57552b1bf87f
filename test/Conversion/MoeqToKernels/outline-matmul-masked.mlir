// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file -verify-diagnostics | FileCheck %s

// Masked rows: the kernel takes the counts and the rows that each expert has in
// memory, and counts the rows of all experts.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: llvm.func @blocks_grouped_matmul
// CHECK-SAME:      %[[COUNTS:[^:]*]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[^:]*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[M:[^:]*]]: i32) attributes
// CHECK:         %[[SCALES:.*]] = moeq_gpu.tensor_map %{{.*}} : <1x128xf32>
// CHECK:         moeq_gpu.schedule counts(%[[COUNTS]]) groups(%c8_i32) rows(%[[M]]) columns(%c14336_i32) : <128x256, raster = 16, groups_per_lane = 1, masked = true>
// CHECK:           %[[GROUP:.*]], %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile
// The scales of each expert are a matrix of their own, where tiles start at
// multiples of their rows.
// CHECK-DAG:         %[[PLANE:.*]] = arith.muli %[[GROUP]], %c32_i32
// CHECK-DAG:         %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[M]]
// CHECK-DAG:         %[[OWN:.*]] = arith.subi %[[ROW]], %[[FIRST]]
// CHECK-DAG:         %[[STAGE:.*]] = arith.addi %[[PLANE]], %{{.*}}
// CHECK:             moeq_gpu.ring.fill {{.*}}%[[SCALES]] at {{.*}}, %[[STAGE]], %[[OWN]])
// CHECK:         consumers(2, 232)
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:      %[[A:[^:]*]]: memref<8x?x4096xf8E4M3FN>, %[[S:[^:]*]]: memref<8x32x?xf32>
// CHECK-SAME:      %[[C:[^:]*]]: memref<8x?x14336xbf16>
// CHECK-DAG:     %[[DIM:.*]] = memref.dim %[[C]], %c1
// CHECK-DAG:     %[[ROWS:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK-DAG:     moeq_gpu.encode_tensor_map %[[S]] : memref<8x32x?xf32> -> <1x128xf32>
// The grid is that of all rows at most.
// CHECK:         %[[ALL:.*]] = arith.muli %[[DIM]], %c8
// CHECK:         arith.divui %[[ALL]], %c128
// CHECK:         gpu.launch_func
func.func @blocks(%a: memref<8x?x4096xf8E4M3FN>, %sa: memref<8x32x?xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %n: memref<8xi32>, %c: memref<8x?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<8x?x4096xf8E4M3FN>, memref<8x32x?xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    counts(%n : memref<8xi32>) outs(%c : memref<8x?x14336xbf16>)
  return
}

// -----

!tensor = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// A scale of all rows is that of the rows of an expert.
// CHECK-LABEL: llvm.func @tensor_grouped_matmul
// CHECK:         moeq_gpu.schedule counts(%{{.*}}) groups(%{{.*}}) rows(%{{.*}})
// CHECK:         consumers
// CHECK:           %[[GROUP:.*]], %{{.*}}, %{{.*}}, %{{.*}} = moeq_gpu.schedule.tile
// CHECK:             %[[S:.*]] = llvm.getelementptr %{{.*}}[%[[GROUP]]]
// CHECK:             llvm.load %[[S]]
// CHECK:             %[[S:.*]] = llvm.getelementptr %{{.*}}[%[[GROUP]]]
// CHECK:             llvm.load %[[S]]
func.func @tensor(%a: memref<?x?x?xf8E4M3FN>, %sa: memref<?x1x1xf32>,
                  %w: memref<?x?x?xf8E4M3FN>, %sw: memref<?x1x1xf32>,
                  %n: memref<?xi32>, %c: memref<?x?x?xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?x?xf8E4M3FN>, memref<?x1x1xf32> as !tensor)
    rhs(%w, %sw : memref<?x?x?xf8E4M3FN>, memref<?x1x1xf32> as !tensor)
    counts(%n : memref<?xi32>) outs(%c : memref<?x?x?xbf16>)
  return
}
