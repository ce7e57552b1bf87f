// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Sums of 128 columns each, one in flight beside the accumulator of 256. Scales
// along K are copied one by one, by the four warps of the producer's warpgroup.
// CHECK-LABEL: llvm.func @blocks_grouped_matmul
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[128x128xf8E4M3FN, 256x128xf8E4M3FN, gathered 128xf32]>
// CHECK:         moeq_gpu.roles producer(40)
// CHECK:           %{{.*}}, %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile
// CHECK:           %[[I:.*]] = moeq_gpu.load_indices[%[[ROW]]] end(%[[END]]) : i32
// CHECK:             moeq_gpu.ring.acquire
// CHECK:             moeq_gpu.ring.fill
// CHECK:             moeq_gpu.ring.gather_vector {{.*}} number 0 from(%{{.*}}) pitch(%c32_i64) indices(%[[I]])
// CHECK:             moeq_gpu.ring.gathered
// CHECK:         helpers {
// CHECK:             moeq_gpu.ring.acquire
// CHECK-NOT:         moeq_gpu.ring.fill
// CHECK:             moeq_gpu.ring.gather_vector
// CHECK:         consumers(2, 232)
// CHECK:           scf.for {{.*}} -> (!moeq_gpu.fragment<64x128xf32>, !moeq_gpu.fragment<64x128xf32>, !moeq_gpu.cursor)
// CHECK:             llvm.load
// CHECK:             llvm.load
// CHECK:             %[[PARTS:.*]]:3 = moeq_gpu.ring.wait
// CHECK:             %[[B0:.*]] = moeq_gpu.subtile {{.*}} : <256x128xf8E4M3FN> -> <128x128xf8E4M3FN>
// CHECK:             %[[P0:.*]] = moeq_gpu.mma %[[A:.*]], %[[B0]] :
// CHECK:             %[[R0:.*]] = moeq_gpu.mma_wait pending 0(%[[P0]]
// CHECK:             moeq_gpu.map(%[[R0]], %{{.*}}, %{{.*}} : !moeq_gpu.fragment<64x128xf32>, !moeq_gpu.fragment<64x128xf32>, !moeq_gpu.fragment<64x1xf32>)
// The product of the scales is formed first.
// CHECK-NEXT:        ^bb0(%[[SUM:.*]]: f32, %[[ACC:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:          %[[F:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// CHECK-NEXT:          %[[X:.*]] = math.fma %[[SUM]], %[[F]], %[[ACC]] : f32
// CHECK-NEXT:          moeq_gpu.yield %[[X]]
// The next sum takes the registers of this one.
// CHECK:             moeq_gpu.mma %[[A]], %{{.*}}, %[[R0]] overwrite :
// CHECK:             moeq_gpu.mma_wait pending 0
// CHECK:             moeq_gpu.ring.release
// CHECK:             moeq_gpu.map
// CHECK:             scf.yield
// The epilogue only rounds.
// CHECK:           moeq_gpu.map
// CHECK-NEXT:      ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:        arith.truncf %[[ACC]] : f32 to bf16
func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>) accumulate(<promote<128>>)
  return
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// A narrow tile has two sums in flight, of two stages; the stage that is left
// over where their number is odd comes last.
// CHECK-LABEL: llvm.func @narrow_grouped_matmul
// CHECK:         consumers(2, 232)
// CHECK:           %[[LOOP:.*]]:2 = scf.for %{{.*}} step %c2_i32
// CHECK:             %[[P0:.*]] = moeq_gpu.mma
// CHECK:             moeq_gpu.ring.wait
// CHECK:             %[[P1:.*]] = moeq_gpu.mma
// CHECK:             moeq_gpu.mma_wait pending 1(%[[P0]]
// CHECK:             moeq_gpu.ring.release
// CHECK:             moeq_gpu.map
// CHECK:             moeq_gpu.mma_wait pending 0(%[[P1]]
// CHECK:             moeq_gpu.ring.release
// CHECK:             moeq_gpu.map
// CHECK:           scf.for {{.*}}%[[LOOP]]#0, {{.*}}%[[LOOP]]#1) -> (!moeq_gpu.fragment<64x128xf32>, !moeq_gpu.cursor)
// CHECK:             moeq_gpu.mma
// CHECK:             moeq_gpu.mma_wait pending 0
func.func @narrow(%a: memref<?x?xf8E4M3FN>, %sa: memref<?x?xf32>,
                  %w: memref<8x?x?xf8E4M3FN>, %sw: memref<8x?x?xf32>,
                  %o: memref<9xi32>, %c: memref<?x?xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?xf8E4M3FN>, memref<?x?xf32> as !act)
    rhs(%w, %sw : memref<8x?x?xf8E4M3FN>, memref<8x?x?xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x?xbf16>) accumulate(<fast>)
    config(<tile = [128, 128], stages = 5>)
  return
}

// -----

!lhs = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!rhs = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// Where those of one operand are along K, threads copy those of the other, too:
// these come by a pitch, which is a parameter.
// CHECK-LABEL: llvm.func @vectors_matmul
// CHECK-SAME:      %[[ROWS:[^:]*]]: i32, %[[PITCH:[^:]*]]: i32) attributes
// CHECK:         moeq_gpu.ring.create consumers 2 : <5x[128x128xf8E4M3FN, 128x128xf8E4M3FN, gathered 128xf32, 128xf32]>
// CHECK:           moeq_gpu.ring.gather_vector {{.*}} number 0 {{.*}} pitch(%c1_i64)
// CHECK:           moeq_gpu.ring.gather_vector {{.*}} number 1 {{.*}} pitch(%c4_i64)
// CHECK:         consumers
// CHECK:         scf.for
// CHECK:           %[[PARTS:.*]]:4 = moeq_gpu.ring.wait
// CHECK:           moeq_gpu.mma
// CHECK:           moeq_gpu.mma_wait pending 0
// CHECK:           moeq_gpu.map
// CHECK:             arith.mulf
// CHECK:             math.fma
// CHECK-LABEL: func.func @vectors(
// CHECK-SAME:      %[[A:[^:]*]]: memref<?x512xf8E4M3FN>, %[[SA:[^:]*]]: memref<4x?xf32>
// CHECK:         %[[DIM:.*]] = memref.dim %[[SA]], %c1
// CHECK:         %[[I32:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK:         gpu.launch_func
// CHECK-SAME:      %[[I32]] : i32)
func.func @vectors(%a: memref<?x512xf8E4M3FN>, %sa: memref<4x?xf32>,
                   %w: memref<1000x512xf8E4M3FN>, %sw: memref<1000x4xf32>, %c: memref<?x1000xf32>) {
  moeq.matmul lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<4x?xf32> as !lhs)
    rhs(%w, %sw : memref<1000x512xf8E4M3FN>, memref<1000x4xf32> as !rhs)
    outs(%c : memref<?x1000xf32>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Promoted sums without block scales are added; the scales come at the end.
// CHECK-LABEL: llvm.func @promoted_matmul
// CHECK:         scf.for
// CHECK:           moeq_gpu.map
// CHECK-NEXT:      ^bb0(%[[SUM:.*]]: f32, %[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:        arith.addf %[[ACC]], %[[SUM]] : f32
// CHECK:         moeq_gpu.map
// CHECK:           arith.mulf
// CHECK:           arith.mulf
// CHECK:           arith.truncf
func.func @promoted(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x1xf32>,
                    %w: memref<1024x512xf8E4M3FN>, %sw: memref<1024x1xf32>, %c: memref<?x1024xf16>) {
  moeq.matmul lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x1xf32> as !a)
    rhs(%w, %sw : memref<1024x512xf8E4M3FN>, memref<1024x1xf32> as !a)
    outs(%c : memref<?x1024xf16>) accumulate(<promote<128>>)
  return
}

// -----

!act = !moeq.scaled<i8, block = [128], scale = f32>
!weight = !moeq.scaled<i8, block = [*, *], scale = f32>

// Sums of integers are converted before they are scaled; the scale of a whole
// weight multiplies the end.
// CHECK-LABEL: llvm.func @integers_matmul
// CHECK:         scf.for
// CHECK:           moeq_gpu.mma {{.*}} -> !moeq_gpu.fragment<64x128xi32>
// CHECK:           moeq_gpu.map
// CHECK-NEXT:      ^bb0(%[[SUM:.*]]: i32, %[[ACC:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:        %[[F:.*]] = arith.sitofp %[[SUM]] : i32 to f32
// CHECK-NEXT:        math.fma %[[F]], %[[S]], %[[ACC]] : f32
// CHECK:         scf.yield
// CHECK:         moeq_gpu.map
// CHECK-NEXT:    ^bb0(%[[ACC2:[^:]*]]: f32, %{{[^:]*}}: index
// CHECK-NEXT:      arith.mulf %[[ACC2]]
func.func @integers(%a: memref<?x512xi8>, %sa: memref<?x4xf32>,
                    %w: memref<1024x512xi8>, %sw: memref<1x1xf32>, %c: memref<?x1024xf16>) {
  moeq.matmul lhs(%a, %sa : memref<?x512xi8>, memref<?x4xf32> as !act)
    rhs(%w, %sw : memref<1024x512xi8>, memref<1x1xf32> as !weight)
    outs(%c : memref<?x1024xf16>)
  return
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Every other tile of 192 columns begins within a block of 128: the block of a
// sum is that of its own first column.
// CHECK-LABEL: llvm.func @within_matmul
// CHECK:         consumers(2, 224)
// CHECK:           %{{.*}}, %{{.*}}, %{{.*}}, %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:             %[[B0:.*]] = arith.divui %[[COLUMN]], %c128_i32
// CHECK:             arith.minui %[[B0]], %c7_i32
// CHECK:             %[[C1:.*]] = arith.addi %[[COLUMN]], %c64_i32
// CHECK:             %[[B1:.*]] = arith.divui %[[C1]], %c128_i32
// CHECK:             arith.minui %[[B1]], %c7_i32
// CHECK:             %[[C2:.*]] = arith.addi %[[COLUMN]], %c128_i32
// CHECK:             %[[B2:.*]] = arith.divui %[[C2]], %c128_i32
// CHECK:             arith.minui %[[B2]], %c7_i32
func.func @within(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x4xf32>,
                  %w: memref<1024x512xf8E4M3FN>, %sw: memref<8x4xf32>, %c: memref<?x1024xf16>) {
  moeq.matmul lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x4xf32> as !act)
    rhs(%w, %sw : memref<1024x512xf8E4M3FN>, memref<8x4xf32> as !weight)
    outs(%c : memref<?x1024xf16>) config(<tile = [128, 192]>)
  return
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// With swapped operands the scales of the rows of A are those of columns of the
// accumulator. One copy brings those of a tile; it starts at a multiple of 16
// bytes, and consumers read from where the tile's begin. Two stages of an even
// number are in flight.
// CHECK-LABEL: llvm.func @swapped_grouped_matmul
// CHECK:         %[[MAP:.*]] = moeq_gpu.tensor_map %{{.*}} : <1x28xf32>
// CHECK:         moeq_gpu.ring.create consumers 2 : <8x[24x128xf8E4M3FN, 128x128xf8E4M3FN, 28xf32]>
// CHECK:         moeq_gpu.roles producer(40)
// CHECK:           %{{.*}}, %[[ROW:.*]], %[[END:.*]], %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:           scf.for %[[K:[^ ]*]] =
// CHECK:             %[[UNIT:.*]] = arith.andi %[[ROW]], %c-4_i32
// CHECK:             moeq_gpu.ring.fill {{.*}}%[[MAP]] at {{.*}}, %[[K]], %[[UNIT]])
// CHECK:         consumers(2, 232)
// CHECK:           %{{.*}}, %[[ROW:.*]], %[[END:.*]], %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:           scf.index_switch
// CHECK:           case 2 {
// CHECK:             scf.for %[[K:.*]] = %c0_i32 to %{{.*}} step %c2_i32
// CHECK:               %[[START:.*]] = arith.andi %[[ROW]], %c3_i32
// CHECK:               llvm.load
// CHECK:               %[[AB:.*]]:3 = moeq_gpu.ring.wait
// CHECK:               %[[W0:.*]] = moeq_gpu.subtile %[[AB]]#1{{.*}} -> <64x128xf8E4M3FN>
// CHECK:               %[[T0:.*]] = moeq_gpu.subtile %[[AB]]#0{{.*}} -> <16x128xf8E4M3FN>
// CHECK:               %[[P0:.*]] = moeq_gpu.mma %[[W0]], %[[T0]] :
// CHECK:               %[[S:.*]] = moeq_gpu.spread %[[AB]]#2[0] from(%[[START]]) : <28xf32> -> <1x16xf32>
// CHECK:               moeq_gpu.ring.wait
// CHECK:               moeq_gpu.mma
// CHECK:               %[[R0:.*]] = moeq_gpu.mma_wait pending 1(%[[P0]]
// CHECK:               moeq_gpu.ring.release
// CHECK:               moeq_gpu.map(%[[R0]], %{{.*}}, %[[S]] : !moeq_gpu.fragment<64x16xf32>, !moeq_gpu.fragment<64x16xf32>, !moeq_gpu.fragment<1x16xf32>)
// CHECK:               moeq_gpu.mma_wait pending 0
// CHECK:             }
// CHECK-NOT:         scf.for
// CHECK:           case 3 {
func.func @swapped(%a: memref<?x4096xf8E4M3FN>, %sa: memref<32x?xf32>,
                   %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                   %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<32x?xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [24, 128], stages = 8, swap_ab = true>)
  return
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Scales of the rows of the weights are those of the rows of the accumulator.
// CHECK-LABEL: llvm.func @swapped_vectors_matmul
// CHECK:           moeq_gpu.spread %{{.*}}[0] : <8xf32> -> <1x8xf32>
// CHECK:           moeq_gpu.spread %{{.*}}[0] from(%{{.*}}) : <128xf32> -> <64x1xf32>
// CHECK:           moeq_gpu.map({{.*}}, !moeq_gpu.fragment<1x8xf32>, !moeq_gpu.fragment<64x1xf32>)
func.func @swapped_vectors(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x4xf32>,
                           %w: memref<1000x512xf8E4M3FN>, %sw: memref<1000x4xf32>, %c: memref<?x1000xf32>) {
  moeq.matmul lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x4xf32> as !act)
    rhs(%w, %sw : memref<1000x512xf8E4M3FN>, memref<1000x4xf32> as !act)
    outs(%c : memref<?x1000xf32>) config(<tile = [8, 128], swap_ab = true>)
  return
}
