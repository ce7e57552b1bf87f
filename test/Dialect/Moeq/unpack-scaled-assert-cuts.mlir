// RUN: moeq-opt %s -moeq-unpack-scaled=assert-cuts -canonicalize -cse -split-input-file | FileCheck %s

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// The slice starts at a block or lies inside one.
// CHECK-LABEL: func @extract(
// CHECK-SAME: %[[I:[^:]*]]: index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[REST:.*]] = arith.remui %[[I]], %[[C128]]
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %[[C0]]
// CHECK: %[[END:.*]] = arith.addi %[[REST]], %[[C64]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[END]], %[[C128]]
// CHECK: %[[HOLDS:.*]] = arith.ori %[[ALIGNED]], %[[INSIDE]]
// CHECK: cf.assert %[[HOLDS]], "'tensor.extract_slice' cuts scale blocks of dimension 0 of 'tensor<?x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'"
// CHECK: tensor.extract_slice
func.func @extract(%a: tensor<?x256x!w>, %i: index) -> tensor<64x256x!w> {
  %0 = tensor.extract_slice %a[%i, 0] [64, 256] [1, 1] : tensor<?x256x!w> to tensor<64x256x!w>
  return %0 : tensor<64x256x!w>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// The inserted slice covers blocks or reaches the end.
// CHECK-LABEL: func @insert(
// CHECK-SAME: %{{[^:]*}}: tensor<4x?xf8E4M3FN> {{{[^}]*}}}, %{{[^:]*}}: tensor<4x?xf32> {{{[^}]*}}}, %[[B:[^:]*]]: tensor<4x?xf8E4M3FN> {{{[^}]*}}}, %{{[^:]*}}: tensor<4x?xf32> {{{[^}]*}}}, %[[I:[^:]*]]: index {{{[^}]*}}}, %[[N:[^:]*]]: index
// CHECK-DAG: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK-DAG: %[[END:.*]] = arith.addi %[[I]], %[[N]]
// CHECK-DAG: %[[DIM:.*]] = tensor.dim
// CHECK-DAG: %[[REACHES:.*]] = arith.cmpi eq, %[[END]], %[[DIM]]
// CHECK: cf.assert
// CHECK-COUNT-2: tensor.insert_slice
func.func @insert(%a: tensor<4x?x!a>, %b: tensor<4x?x!a>, %i: index, %n: index) -> tensor<4x?x!a> {
  %0 = scf.forall (%t) in (1) shared_outs(%o = %b) -> tensor<4x?x!a> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[0, %i] [4, %n] [1, 1] : tensor<4x?x!a> into tensor<4x?x!a>
    }
  }
  return %0 : tensor<4x?x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @whole(
// CHECK-DAG: arith.cmpi eq, %{{.*}}, %c0
// CHECK-DAG: arith.cmpi eq
// CHECK: arith.andi
// CHECK: cf.assert
// CHECK: tensor.insert_slice
func.func @whole(%a: tensor<4x?x!a>, %b: tensor<4x?x!a>, %i: index, %n: index) -> tensor<4x?x!a> {
  %0 = tensor.insert_slice %a into %b[0, %i] [4, %n] [1, 1] : tensor<4x?x!a> into tensor<4x?x!a>
  return %0 : tensor<4x?x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @collapse(
// CHECK: %[[DIM:.*]] = tensor.dim
// CHECK: %[[REST:.*]] = arith.remui %[[DIM]]
// CHECK: arith.cmpi eq, %[[REST]]
// CHECK: cf.assert %{{.*}}, "'tensor.collapse_shape' cuts scale blocks of dimension 1
// CHECK: tensor.collapse_shape
func.func @collapse(%a: tensor<8x?x!a>) -> tensor<?x!a> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x?x!a> into tensor<?x!a>
  return %0 : tensor<?x!a>
}
