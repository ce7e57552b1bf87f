// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file -verify-diagnostics | FileCheck %s

// The gradient of the weights: experts are ranges of K. Tiles are those of one
// matrix of 8 times 7168 rows, M rounded up to whole tiles.

// CHECK-LABEL: llvm.func @rows_grouped_matmul
// CHECK-SAME:      %[[OFFSETS:[^:]*]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[M:[^:]*]]: i32, %{{[^:]*}}: i32) attributes
// CHECK-DAG:     moeq_gpu.tensor_map %{{.*}} : <64x64xbf16>
// CHECK-DAG:     moeq_gpu.ring.create consumers 2 : <4x[64x128xbf16, 64x256xbf16]>
// CHECK-DAG:     %[[TILES:.*]] = arith.ceildivui %[[M]], %c128_i32
// CHECK:         %[[ROWS:.*]] = arith.muli %[[TILES]], %c1024_i32
// CHECK:         moeq_gpu.schedule rows(%[[ROWS]]) columns(%c2048_i32) : <128x256, raster = 16, groups_per_lane = 0>
// CHECK:         moeq_gpu.roles producer
// CHECK:           %{{.*}}, %[[ROW:.*]], %{{.*}}, %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:           %[[PADDED:.*]] = arith.muli %[[TILES]], %c128_i32
// CHECK:           %[[GROUP:.*]] = arith.divui %[[ROW]], %[[PADDED]]
// CHECK:           %[[BEGIN:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK:           %[[END:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK:           %[[EXTENT:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:           %[[SOME:.*]] = arith.maxsi %[[EXTENT]], %c0_i32
// CHECK:           arith.ceildivui %[[SOME]], %c64_i32
// CHECK:           arith.maxui %{{.*}}, %c1_i32
// A stage is rows of K of both operands.
// CHECK:             %[[K:.*]] = arith.addi %[[BEGIN]], %{{.*}}
// CHECK:             moeq_gpu.ring.fill %{{.*}} from(%{{.*}}, %{{.*}} at %[[K]], %{{.*}}, %[[K]], %[[COLUMN]])
// CHECK:         consumers(2,
// CHECK:           moeq_gpu.subtile %{{.*}} : <64x128xbf16> -> <64x64xbf16>
// CHECK:           scf.if
// CHECK:             moeq_gpu.clear_rows %{{.*}}, %{{.*}} from
// CHECK:           moeq_gpu.mma %{{.*}} transpose_a transpose_b
// CHECK:           scf.for
// CHECK-NOT:         clear_rows
// CHECK:             moeq_gpu.mma %{{.*}} transpose_a transpose_b
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:      %[[DY:[^:]*]]: memref<?x7168xbf16>, %[[X:[^:]*]]: memref<?x2048xbf16>
// CHECK-DAG:     moeq_gpu.encode_tensor_map %[[DY]] : {{.*}} -> <64x64xbf16>
// CHECK-DAG:     moeq_gpu.encode_tensor_map %[[X]] : {{.*}} -> <64x64xbf16>
// CHECK:         gpu.launch_func
func.func @rows(%dy: memref<?x7168xbf16>, %x: memref<?x2048xbf16>, %o: memref<9xi32>, %dw: memref<8x7168x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy : memref<?x7168xbf16>) rhs(%x : memref<?x2048xbf16>) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x7168x2048xbf16>) contract(rows)
  return
}

// -----

// What is added to is read by the thread that writes it.

// CHECK-LABEL: llvm.func @added_grouped_matmul
// CHECK-SAME:      %[[C:[^:]*]]: !llvm.ptr<1> {llvm.noalias}
// CHECK:         %[[OLD:.*]] = moeq_gpu.load %[[C]]
// CHECK:         moeq_gpu.map(%{{.*}}, %[[OLD]] : {{.*}}
// CHECK:         ^bb0(%[[SUM:.*]]: f32, %[[ADDED:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK:           arith.addf %[[ADDED]], %[[SUM]]
func.func @added(%dy: memref<?x?xf16>, %x: memref<?x?xf16>, %o: memref<?xi32>, %dw: memref<?x?x?xf32>) {
  moeq.grouped_matmul lhs(%dy : memref<?x?xf16>) rhs(%x : memref<?x?xf16>) offsets(%o : memref<?xi32>)
    outs(%dw : memref<?x?x?xf32>) contract(rows) add_to_outs
  return
}

// -----

// The gradient of the rows reads the weights of the forward pass, [E, K, N] of
// this matmul. K is whole stages, which end with the expert.

// CHECK-LABEL: llvm.func @transposed_grouped_matmul
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[128x64xbf16, 64x256xbf16]>
// CHECK:         moeq_gpu.schedule offsets
// CHECK:           %[[GROUP:.*]], %[[ROW:.*]], %{{.*}}, %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:             %[[K:.*]] = arith.muli %{{.*}}, %c64_i32
// CHECK:             %[[EXPERT:.*]] = arith.muli %[[GROUP]], %c7168_i32
// CHECK:             %[[OUTER:.*]] = arith.addi %[[EXPERT]], %[[K]]
// CHECK:             moeq_gpu.ring.fill %{{.*}} from(%{{.*}}, %{{.*}} at %[[ROW]], %[[K]], %[[OUTER]], %[[COLUMN]])
// CHECK-NOT:     clear_rows
// CHECK:         moeq_gpu.mma %{{.*}} transpose_b
func.func @transposed(%dy: memref<?x7168xbf16>, %w: memref<8x7168x2048xbf16>, %o: memref<9xi32>, %dx: memref<?x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy : memref<?x7168xbf16>) rhs(%w : memref<8x7168x2048xbf16>) offsets(%o : memref<9xi32>)
    outs(%dx : memref<?x2048xbf16>) transpose_rhs
  return
}

// -----

// Where K is not, the rows of the next expert's weight are cleared; the copy of
// the rows ends with K.

// CHECK-LABEL: llvm.func @partial_grouped_matmul
// CHECK:         moeq_gpu.clear_rows %{{.*}} from %{{.*}} : !moeq_gpu.tile<64x256xbf16>
func.func @partial(%dy: memref<?x1000xbf16>, %w: memref<8x1000x2048xbf16>, %o: memref<9xi32>, %dx: memref<?x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy : memref<?x1000xbf16>) rhs(%w : memref<8x1000x2048xbf16>) offsets(%o : memref<9xi32>)
    outs(%dx : memref<?x2048xbf16>) transpose_rhs
  return
}

// -----

// Those of MXFP8 become bf16; in a group without rows what is copied is cleared.

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: llvm.func @mx_grouped_matmul
// CHECK:         moeq_gpu.clear_rows %{{.*}}, %{{.*}} from %{{.*}} : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<256x64xbf16>
// CHECK:         moeq_gpu.mma %{{[^ ]*}}, %{{[^ ]*}} :
// CHECK-LABEL: func.func @mx(
// CHECK:         memref.alloc(%{{.*}}) : memref<7168x?xbf16>
// CHECK:         memref.alloc(%{{.*}}) : memref<2048x?xbf16>
func.func @mx(%dy: memref<7168x?xf8E4M3FN>, %sy: memref<7168x?xf8E8M0FNU>, %x: memref<2048x?xf8E4M3FN>, %sx: memref<2048x?xf8E8M0FNU>,
              %o: memref<9xi32>, %dw: memref<8x7168x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy, %sy : memref<7168x?xf8E4M3FN>, memref<7168x?xf8E8M0FNU> as !mx)
    rhs(%x, %sx : memref<2048x?xf8E4M3FN>, memref<2048x?xf8E8M0FNU> as !mx) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x7168x2048xbf16>) contract(rows)
  return
}

// -----

// FP8 rows are transposed. Their groups are whole stages: nothing is cleared,
// and a group without rows has no stage. The scales of a stage are in one row of
// all groups'.

!block = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>

// CHECK-LABEL: llvm.func @blocks_grouped_matmul
// CHECK:         moeq_gpu.ring.create consumers 2 : <{{.*}}x[128x128xf8E4M3FN, 128x128xf8E4M3FN, 128xf32, 128xf32]>
// CHECK:             %[[STAGES:.*]] = arith.ceildivui %{{.*}}, %c128_i32
// CHECK:             %[[FIRST:.*]] = arith.divui %{{.*}}, %c128_i32
// CHECK:             %[[STAGE:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK:             moeq_gpu.ring.fill %{{.*}} from(%{{.*}} at %[[ROW:.*]], %[[K:.*]], %[[COLUMN:.*]], %[[K]], %[[STAGE]], %[[ROW]], %[[STAGE]], %[[COLUMN]])
// CHECK-NOT:     clear_rows
// CHECK:         moeq_gpu.mma %{{[^ ]*}}, %{{[^ ]*}} :
func.func @blocks(%dy: memref<7168x?xf8E4M3FN>, %sy: memref<?x7168xf32>, %x: memref<2048x?xf8E4M3FN>, %sx: memref<?x2048xf32>,
                  %o: memref<9xi32>, %dw: memref<8x7168x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy, %sy : memref<7168x?xf8E4M3FN>, memref<?x7168xf32> as !block)
    rhs(%x, %sx : memref<2048x?xf8E4M3FN>, memref<?x2048xf32> as !block) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x7168x2048xbf16>) contract(rows)
  return
}

// -----

// What no kernel of this form takes.

func.func @f32(%dy: memref<?x64xf32>, %x: memref<?x64xf32>, %o: memref<9xi32>, %dw: memref<8x64x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: no tensor core instruction multiplies f32 and f32}}
  moeq.grouped_matmul lhs(%dy : memref<?x64xf32>) rhs(%x : memref<?x64xf32>) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x64x64xf32>) contract(rows)
  return
}

// -----

func.func @bytes(%dy: memref<?x64xi8>, %w: memref<8x64x64xi8>, %o: memref<9xi32>, %dx: memref<?x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: the tensor cores transpose 16-bit types, got i8}}
  moeq.grouped_matmul lhs(%dy : memref<?x64xi8>) rhs(%w : memref<8x64x64xi8>) offsets(%o : memref<9xi32>)
    outs(%dx : memref<?x64xf32>) transpose_rhs
  return
}

// -----

func.func @swapped(%dy: memref<?x64xbf16>, %w: memref<8x64x64xbf16>, %o: memref<9xi32>, %dx: memref<?x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: swap_ab is for rows times weights [E, N, K], got transposed weights}}
  moeq.grouped_matmul lhs(%dy : memref<?x64xbf16>) rhs(%w : memref<8x64x64xbf16>) offsets(%o : memref<9xi32>)
    outs(%dx : memref<?x64xf32>) transpose_rhs config(<tile = [64, 128], swap_ab = true>)
  return
}

// -----

func.func @cluster(%dy: memref<?x64xbf16>, %x: memref<?x64xbf16>, %o: memref<9xi32>, %dw: memref<8x64x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: a cluster is for rows times weights [E, N, K], got contraction of rows}}
  moeq.grouped_matmul lhs(%dy : memref<?x64xbf16>) rhs(%x : memref<?x64xbf16>) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x64x64xf32>) contract(rows) config(<tile = [128, 128], cluster = 2>)
  return
}

// -----

func.func @pitch(%dy: memref<?x68xbf16>, %x: memref<?x64xbf16>, %o: memref<9xi32>, %dw: memref<8x68x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: a row of the operands is a multiple of 16 bytes, got 136}}
  moeq.grouped_matmul lhs(%dy : memref<?x68xbf16>) rhs(%x : memref<?x64xbf16>) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x68x64xf32>) contract(rows)
  return
}

// -----

!row = !moeq.scaled<i8, block = [*], scale = f32>

func.func @whole_rows(%dy: memref<64x?xi8>, %s: memref<64x1xf32>, %o: memref<9xi32>, %dw: memref<8x64x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: rows of 8 bits are contracted in blocks of 128 with a scale, got i8 with others}}
  moeq.grouped_matmul lhs(%dy, %s : memref<64x?xi8>, memref<64x1xf32> as !row) rhs(%dy, %s : memref<64x?xi8>, memref<64x1xf32> as !row)
    offsets(%o : memref<9xi32>) outs(%dw : memref<8x64x64xf32>) contract(rows)
  return
}
