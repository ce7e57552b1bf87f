// RUN: moeq-opt %s --moeq-gpu-tiles-to-scf --split-input-file | FileCheck %s

func.func private @visit(index, index, index, index)

// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:      %[[OFFSETS:.*]]: memref<9xi32>, %[[N:.*]]: index)
// CHECK:         scf.for %[[E:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[LO:.*]] = memref.load %[[OFFSETS]][%[[E]]]
// CHECK:           %[[BEGIN:.*]] = arith.index_cast %[[LO]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[E]]
// CHECK:           %[[HI:.*]] = memref.load %[[OFFSETS]][%[[NEXT]]]
// CHECK:           %[[END:.*]] = arith.index_cast %[[HI]]
// CHECK:           scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step
// CHECK:             scf.for %[[COLUMN:.*]] = %{{.*}} to %[[N]] step
// CHECK:               func.call @visit(%[[E]], %[[ROW]], %[[END]], %[[COLUMN]])
func.func @grouped(%offsets: memref<9xi32>, %n: index) {
  moeq_gpu.tiles offsets(%offsets : memref<9xi32>) columns(%n) tile [128, 256] raster 16 {
  ^bb0(%expert: index, %row: index, %row_end: index, %column: index):
    func.call @visit(%expert, %row, %row_end, %column) : (index, index, index, index) -> ()
  }
  return
}

// -----

func.func private @visit(index, index, index, index)

// CHECK-LABEL: func.func @plain(
// CHECK-SAME:      %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK:         scf.for %[[ROW:.*]] = %[[ZERO:.*]] to %[[M]] step
// CHECK:           scf.for %[[COLUMN:.*]] = %[[ZERO]] to %[[N]] step
// CHECK:             func.call @visit(%[[ZERO]], %[[ROW]], %[[M]], %[[COLUMN]])
func.func @plain(%m: index, %n: index) {
  moeq_gpu.tiles rows(%m) columns(%n) tile [64, 64] {
  ^bb0(%expert: index, %row: index, %row_end: index, %column: index):
    func.call @visit(%expert, %row, %row_end, %column) : (index, index, index, index) -> ()
  }
  return
}
