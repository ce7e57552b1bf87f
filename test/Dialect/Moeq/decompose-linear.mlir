// RUN: moeq-opt %s -split-input-file -moeq-decompose="form=linear unroll-limit=2" -canonicalize -cse | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-decompose -canonicalize -cse | FileCheck %s --check-prefix=GROUPED
// RUN: moeq-opt %s -split-input-file -moeq-decompose=form=linear --remarks-filter=moeq-decompose -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Unrolled: each expert that has rows replaces them.

// CHECK-LABEL: func @unrolled(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<?x256x!scaled>, %[[W:[^:]*]]: tensor<2x384x256x!scaled1>, %[[OFFSETS:[^:]*]]: tensor<3xi32>, %[[OUT:[^:]*]]: tensor<?x384xf32>
// CHECK:       %[[O0:.*]] = tensor.extract %[[OFFSETS]][%c0]
// CHECK:       %[[FIRST:.*]] = arith.index_cast %[[O0]]
// CHECK:       %[[O1:.*]] = tensor.extract %[[OFFSETS]][%c1]
// CHECK:       %[[END:.*]] = arith.index_cast %[[O1]]
// CHECK:       %[[ROWS:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK:       %[[HAS:.*]] = arith.cmpi slt, %[[FIRST]], %[[END]]
// CHECK:       %[[ACC:.*]] = scf.if %[[HAS]] -> (tensor<?x384xf32>) {
// CHECK:         %[[A0:.*]] = tensor.extract_slice %[[A]][%[[FIRST]], 0] [%[[ROWS]], 256] [1, 1]
// CHECK:         %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0, 0] [1, 384, 256] [1, 1, 1] : {{.*}} to tensor<384x256x!scaled1>
// CHECK:         %[[C0:.*]] = tensor.extract_slice %[[OUT]][%[[FIRST]], 0] [%[[ROWS]], 384] [1, 1]
// CHECK:         %[[R0:.*]] = moeq.matmul lhs(%[[A0]] : {{.*}}) rhs(%[[W0]] : {{.*}}) outs(%[[C0]] : {{.*}}) accumulate(<promote<128>>) config(<tile = [128, 256]
// CHECK:         %[[I0:.*]] = tensor.insert_slice %[[R0]] into %[[OUT]][%[[FIRST]], 0] [%[[ROWS]], 384] [1, 1]
// CHECK:         scf.yield %[[I0]]
// CHECK:       } else {
// CHECK:         scf.yield %[[OUT]]
// CHECK:       %[[LAST:.*]] = scf.if
// CHECK:         tensor.extract_slice %[[W]][1, 0, 0]
// CHECK:         tensor.insert_slice %{{.*}} into %[[ACC]]
// CHECK:       return %[[LAST]]

// GROUPED-LABEL: func @unrolled(
// GROUPED:       moeq.grouped_matmul
// GROUPED-NOT:   moeq.matmul
func.func @unrolled(%a: tensor<?x256x!act>, %w: tensor<2x384x256x!weight>, %offsets: tensor<3xi32>,
                    %out: tensor<?x384xf32>) -> tensor<?x384xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x256x!act>) rhs(%w : tensor<2x384x256x!weight>)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x384xf32>)
      accumulate(<promote<128>>) config(<tile = [128, 256]>) -> tensor<?x384xf32>
  return %c : tensor<?x384xf32>
}

// -----

// More experts than the limit make a loop. The epilogue's operands are sliced by
// their maps, and its row stays the row of the whole lhs.

// CHECK-LABEL: func @loop(
// CHECK-SAME:      %[[RW:[^:]*]]: tensor<?xf32>, %[[BIAS:[^:]*]]: tensor<3x128xf32>, %[[RES:[^:]*]]: tensor<?x128xbf16>
// CHECK:       scf.for %[[E:.*]] = %c0 to %c3 step %c1 iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<?x128xbf16>) {
// CHECK:         %[[NEXT:.*]] = arith.addi %[[E]], %c1
// CHECK:         tensor.extract %{{.*}}[%[[E]]]
// CHECK:         tensor.extract %{{.*}}[%[[NEXT]]]
// CHECK:         %[[RW_E:.*]] = tensor.extract_slice %[[RW]][%[[FIRST:.*]]] [%[[ROWS:.*]]] [1]
// CHECK:         %[[BIAS_E:.*]] = tensor.extract_slice %[[BIAS]][%[[E]], 0] [1, 128] [1, 1] : {{.*}} to tensor<128xf32>
// CHECK:         %[[RES_E:.*]] = tensor.extract_slice %[[RES]][%[[FIRST]], 0] [%[[ROWS]], 128] [1, 1]
// CHECK:         moeq.matmul {{.*}} epilogue(%[[RW_E]], %[[BIAS_E]], %[[RES_E]] : {{.*}}) maps [row, column, row_column] {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %[[ROW:.*]]: index, %[[COL:.*]]: index,
// CHECK-NEXT:      %[[GLOBAL:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi %[[GLOBAL]], %[[COL]]
func.func @loop(%rw: tensor<?xf32>, %bias: tensor<3x128xf32>, %res: tensor<?x128xbf16>,
                %a: tensor<?x64xbf16>, %w: tensor<3x128x64xbf16>, %offsets: tensor<4xi32>,
                %out: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<3x128x64xbf16>)
      offsets(%offsets : tensor<4xi32>) outs(%out : tensor<?x128xbf16>)
      epilogue(%rw, %bias, %res : tensor<?xf32>, tensor<3x128xf32>, tensor<?x128xbf16>)
      maps [row, column, row_column] {
    ^bb0(%acc: f32, %row: index, %col: index, %r: f32, %b: f32, %s: bf16):
      %place = arith.addi %row, %col : index
      %int = arith.index_cast %place : index to i32
      %float = arith.sitofp %int : i32 to f32
      %0 = arith.addf %acc, %b : f32
      %1 = arith.mulf %0, %r : f32
      %2 = arith.addf %1, %float : f32
      %3 = arith.truncf %2 : f32 to bf16
      %4 = arith.addf %3, %s : bf16
      moeq.yield %4 : bf16
  } -> tensor<?x128xbf16>
  return %c : tensor<?x128xbf16>
}

// -----

// A dynamic number of experts makes a loop.

// CHECK-LABEL: func @dynamic(
// CHECK-SAME:      %{{[^:]*}}: tensor<?x?xbf16>, %[[W:[^:]*]]: tensor<?x?x?xbf16>, %{{[^:]*}}: tensor<?xi32>, %[[OUT:[^:]*]]: tensor<?x?xbf16>
// CHECK-DAG:   %[[E:.*]] = tensor.dim %[[W]], %c0
// CHECK-DAG:   %[[N:.*]] = tensor.dim %[[OUT]], %c1
// CHECK:       scf.for %{{.*}} = %c0 to %[[E]] step %c1
// CHECK:         tensor.insert_slice {{.*}}, 0] [%{{.*}}, %[[N]]] [1, 1]
func.func @dynamic(%a: tensor<?x?xbf16>, %w: tensor<?x?x?xbf16>, %offsets: tensor<?xi32>,
                   %out: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x?xbf16>) rhs(%w : tensor<?x?x?xbf16>)
      offsets(%offsets : tensor<?xi32>) outs(%out : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %c : tensor<?x?xbf16>
}

// -----

// What cannot be sliced keeps the grouped form.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @laid_out(
// CHECK:       moeq.grouped_matmul
// CHECK-NOT:   moeq.matmul
// REMARK: [Missed] linear | Category:moeq-decompose | Reason="keeps moeq.grouped_matmul: its scales have the layout mn_major"
func.func @laid_out(%a: tensor<?x256x!act>, %w: tensor<2x384x256x!weight>, %offsets: tensor<3xi32>,
                    %out: tensor<?x384xf32>) -> tensor<?x384xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x256x!act>) rhs(%w : tensor<2x384x256x!weight>)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x384xf32>) -> tensor<?x384xf32>
  return %c : tensor<?x384xf32>
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @components(
// CHECK:       moeq.grouped_matmul
// REMARK: keeps moeq.grouped_matmul: its operands are components
func.func @components(%a: tensor<?x256xf8E4M3FN>, %as: tensor<?x1xf32>,
                      %w: tensor<2x384x256xf8E4M3FN>, %ws: tensor<2x384x1xf32>,
                      %offsets: tensor<3xi32>, %out: tensor<?x384xf32>) -> tensor<?x384xf32> {
  %c = moeq.grouped_matmul lhs(%a, %as : tensor<?x256xf8E4M3FN>, tensor<?x1xf32> as !act)
      rhs(%w, %ws : tensor<2x384x256xf8E4M3FN>, tensor<2x384x1xf32> as !act)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x384xf32>) -> tensor<?x384xf32>
  return %c : tensor<?x384xf32>
}

// -----

// CHECK-LABEL: func @on_memrefs(
// CHECK:       moeq.grouped_matmul
// REMARK: keeps moeq.grouped_matmul: it is on memrefs
func.func @on_memrefs(%a: memref<?x64xbf16>, %w: memref<3x128x64xbf16>, %offsets: memref<4xi32>,
                      %out: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<3x128x64xbf16>)
      offsets(%offsets : memref<4xi32>) outs(%out : memref<?x128xbf16>)
  return
}

// -----

// CHECK-LABEL: func @empty_weight
// CHECK:       moeq.grouped_matmul
// REMARK: keeps moeq.grouped_matmul: its weight has an extent of 0
func.func @empty_weight(%a: tensor<?x0xf32>, %w: tensor<2x4x0xf32>, %offsets: tensor<3xi32>,
                        %out: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x0xf32>) rhs(%w : tensor<2x4x0xf32>)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %c : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func @dynamic_columns
// CHECK:       tensor.insert_slice %{{.*}} : tensor<?x?xf32> into tensor<?x?xf32>
func.func @dynamic_columns(%a: tensor<?x8xf32>, %w: tensor<2x16x8xf32>, %offsets: tensor<3xi32>,
                           %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%w : tensor<2x16x8xf32>)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @masked(
// CHECK:       moeq.grouped_matmul
// REMARK: keeps moeq.grouped_matmul: its rows are masked
func.func @masked(%a: tensor<3x?x64xbf16>, %w: tensor<3x128x64xbf16>, %counts: tensor<3xi32>,
                  %out: tensor<3x?x128xbf16>) -> tensor<3x?x128xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<3x?x64xbf16>) rhs(%w : tensor<3x128x64xbf16>)
      counts(%counts : tensor<3xi32>) outs(%out : tensor<3x?x128xbf16>) -> tensor<3x?x128xbf16>
  return %c : tensor<3x?x128xbf16>
}

// -----

// CHECK-LABEL: func @gathered(
// CHECK:       moeq.grouped_matmul
// REMARK: keeps moeq.grouped_matmul: its rows are gathered
func.func @gathered(%a: tensor<?x64xbf16>, %w: tensor<3x128x64xbf16>, %offsets: tensor<4xi32>,
                    %rows: tensor<?xi32>, %out: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<3x128x64xbf16>)
      offsets(%offsets : tensor<4xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %c : tensor<?x128xbf16>
}

// -----

// CHECK-LABEL: func @training(
// CHECK:       moeq.grouped_matmul {{.*}} contract(rows)
// CHECK:       moeq.grouped_matmul {{.*}} transpose_rhs
// REMARK: keeps moeq.grouped_matmul: it contracts rows
// REMARK: keeps moeq.grouped_matmul: its weight is transposed
func.func @training(%dy: tensor<?x128xbf16>, %x: tensor<?x64xbf16>, %w: tensor<3x128x64xbf16>, %offsets: tensor<4xi32>,
                    %dw: tensor<3x128x64xf32>, %dx: tensor<?x64xbf16>) -> (tensor<3x128x64xf32>, tensor<?x64xbf16>) {
  %0 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%x : tensor<?x64xbf16>)
      offsets(%offsets : tensor<4xi32>) outs(%dw : tensor<3x128x64xf32>) contract(rows) -> tensor<3x128x64xf32>
  %1 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%w : tensor<3x128x64xbf16>)
      offsets(%offsets : tensor<4xi32>) outs(%dx : tensor<?x64xbf16>) transpose_rhs -> tensor<?x64xbf16>
  return %0, %1 : tensor<3x128x64xf32>, tensor<?x64xbf16>
}
