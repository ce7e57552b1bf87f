// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// The weights are wgmma's M operand: the accumulator is the transpose of a tile
// of C, and there is code for each width that it may have.
// CHECK-LABEL: llvm.func @up_grouped_matmul(
// Two descriptors of the tokens, one of the weights, none of the result.
// CHECK-SAME:      llvm.byval = !llvm.array<256 x i8>
// CHECK-SAME:      llvm.byval = !llvm.array<128 x i8>
// CHECK-SAME:      !llvm.ptr<1> {llvm.noalias}
// CHECK:         %[[MAPS:.*]] = moeq_gpu.tensor_map %{{.*}} : <16x128xf8E4M3FN, step = 8>
// CHECK:         %[[MAP:.*]] = moeq_gpu.tensor_map %{{.*}} : <256x128xf8E4M3FN>
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[16x128xf8E4M3FN, 256x128xf8E4M3FN]>
// CHECK:         moeq_gpu.schedule offsets(%{{.*}}) groups(%{{.*}}) columns(%{{.*}}) : <16x256, step = 8, groups_per_lane = 1>
// CHECK:         moeq_gpu.roles producer
// CHECK:           %{{.*}}, %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile
// Only the rows that the tile has are copied, rounded up to a width.
// CHECK:           %[[COUNT:.*]] = arith.subi %[[END]], %[[ROW]]
// CHECK:           %[[UP:.*]] = arith.addi %[[COUNT]], %c7_i32
// CHECK:           %[[STEPS:.*]] = arith.divui %[[UP]], %c8_i32
// CHECK:           %[[ROWS:.*]] = arith.muli %[[STEPS]], %c8_i32
// CHECK:             moeq_gpu.ring.fill %{{.*}} from(%[[MAPS]], %[[MAP]] at %[[ROW]], {{.*}}) rows(%[[ROWS]])
// CHECK:         } consumers(2, 232) {
// CHECK-COUNT-2:   moeq_gpu.alloc : !moeq_gpu.tile<32x64xbf16>
// CHECK:           moeq_gpu.alloc : !moeq_gpu.vector<16xf32>
// CHECK:           %[[GROUP:.*]], %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile
// CHECK:           %[[CASE:.*]] = nvvm.shfl.sync idx
// CHECK:           arith.index_cast %[[CASE]]
// CHECK:           scf.index_switch
// CHECK-NEXT:      case 1 {
// CHECK:             moeq_gpu.load_striped %{{.*}}[%[[ROW]]] end(%[[END]]) : <8xf32>
// CHECK-COUNT-2:     moeq_gpu.load {{.*}} : <64x1xf32>
// CHECK:             moeq_gpu.mma {{.*}} : <128x128xf8E4M3FN>, <8x128xf8E4M3FN> -> !moeq_gpu.fragment<128x8xf32>
// CHECK:             moeq_gpu.mma_wait pending 0
// CHECK:             moeq_gpu.store_striped
// CHECK-NEXT:        moeq_gpu.barrier
// CHECK:             moeq_gpu.slice %{{.*}}[0, 0] : <128x8xf32> -> <64x8xf32>
// CHECK-NEXT:        moeq_gpu.spread %{{.*}}[0] : <16xf32> -> <1x8xf32>
// CHECK:             moeq_gpu.store_transposed {{.*}} row_end(%[[END]]) column_end(%{{.*}}) : <64x8xbf16>, <32x64xbf16>
// CHECK:             moeq_gpu.slice %{{.*}}[64, 0]
// CHECK:             moeq_gpu.store_transposed
// CHECK:           case 2 {
// CHECK:             -> !moeq_gpu.fragment<128x16xf32>
// CHECK:           default {
// CHECK-NEXT:        scf.yield

// CHECK-LABEL: func.func @up(
// CHECK:         moeq_gpu.encode_tensor_map %{{.*}} : memref<?x512xf8E4M3FN> -> <16x128xf8E4M3FN, step = 8>
func.func @up(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x1xf32>,
              %w: memref<8x1000x512xf8E4M3FN>, %sw: memref<8x1000x1xf32>,
              %o: memref<9xi32>, %c: memref<?x1000xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x1xf32> as !a)
    rhs(%w, %sw : memref<8x1000x512xf8E4M3FN>, memref<8x1000x1xf32> as !a)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x1000xbf16>) accumulate(<fast>)
    config(<tile = [16, 256], swap_ab = true>)
  return
}

// -----

// The epilogue gets row and column of C, and its operands by them.
// CHECK-LABEL: llvm.func @epilogue_matmul(
// CHECK:         moeq_gpu.roles producer
// CHECK:         consumers(1, 240)
// CHECK:           %[[VECTOR:.*]] = moeq_gpu.alloc : !moeq_gpu.vector<32xf16>
// CHECK:           %{{.*}}, %[[ROW:.*]], %{{.*}}, %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:           case 1 {
// CHECK:             %[[EARLY:.*]] = moeq_gpu.load_striped {{.*}} : <16xf16>
// CHECK:             moeq_gpu.mma {{.*}} : <64x128xi8>, <16x128xi8> -> !moeq_gpu.fragment<64x16xi32>
// CHECK:             moeq_gpu.store_striped %[[EARLY]], %[[VECTOR]]
// CHECK:             %[[X:.*]] = moeq_gpu.spread %[[VECTOR]][0] : <32xf16> -> <1x16xf16>
// CHECK:             %[[Y:.*]] = moeq_gpu.load {{.*}} : <64x1xf32>
// CHECK:             %[[Z:.*]] = moeq_gpu.load {{.*}} transposed : <64x16xbf16>
// CHECK:             moeq_gpu.map(%{{.*}}, %[[X]], %[[Y]], %[[Z]] : {{.*}}) at(%{{.*}}, %[[ROW]]) {
// CHECK-NEXT:        ^bb0(%{{.*}}: i32, %{{.*}}: f16, %{{.*}}: f32, %{{.*}}: bf16, %[[J:.*]]: index, %[[I:.*]]: index):
// CHECK:               arith.muli %[[I]], %{{.*}} : index
// CHECK:               arith.addi %{{.*}}, %[[J]] : index
// CHECK:             moeq_gpu.store_transposed {{.*}} : <64x16xf32>, <16x64xf32>
// CHECK:           case 2 {
// CHECK:             -> !moeq_gpu.fragment<64x32xi32>
// CHECK:             moeq_gpu.slice %{{.*}}[0, 16]
// CHECK:             moeq_gpu.spread %[[VECTOR]][16]
func.func @epilogue(%a: memref<?x256xi8>, %w: memref<512x256xi8>, %c: memref<?x512xf32>,
                    %row: memref<?xf16>, %column: memref<512xf32>, %both: memref<?x512xbf16>) {
  %c100 = arith.constant 100 : index
  moeq.matmul lhs(%a : memref<?x256xi8>) rhs(%w : memref<512x256xi8>) outs(%c : memref<?x512xf32>)
      config(<tile = [32, 64], consumers = 1, swap_ab = true>)
      epilogue(%row, %column, %both : memref<?xf16>, memref<512xf32>, memref<?x512xbf16>)
      maps [row, column, row_column] {
    ^bb0(%acc: f32, %i: index, %j: index, %x: f16, %y: f32, %z: bf16):
      %scaled = arith.muli %i, %c100 : index
      %place = arith.addi %scaled, %j : index
      %word = arith.index_cast %place : index to i32
      %number = arith.sitofp %word : i32 to f32
      %x32 = arith.extf %x : f16 to f32
      %z32 = arith.extf %z : bf16 to f32
      %s0 = arith.addf %acc, %number : f32
      %s1 = arith.addf %s0, %x32 : f32
      %s2 = arith.addf %s1, %y : f32
      %s3 = arith.addf %s2, %z32 : f32
      moeq.yield %s3 : f32
  }
  return
}

// -----

// Tiles of a plan, some of which may have no rows: then the producer copies
// nothing. All CTAs start.
// CHECK-LABEL: llvm.func @planned_grouped_matmul(
// CHECK:         moeq_gpu.schedule plan(%{{.*}}) groups(%{{.*}}) columns(%{{.*}}) : <16x128, planned step = 8, groups_per_lane = 1>
// CHECK:         moeq_gpu.roles producer
// CHECK:           } do {
// CHECK:           %[[HAS_ROWS:.*]] = arith.cmpi ult
// CHECK:           %[[DEPTH:.*]] = arith.select %[[HAS_ROWS]], %{{.*}}, %c0_i32
// CHECK:           %[[LESS:.*]] = arith.subi %[[DEPTH]], %c1_i32
// CHECK:           %[[LAST:.*]] = arith.maxsi %[[LESS]], %c0_i32
// CHECK:           scf.for %{{.*}} = %c0_i32 to %[[LAST]]
// CHECK:             moeq_gpu.ring.fill
// CHECK:           moeq_gpu.schedule.take
// CHECK:           scf.for %{{.*}} = %[[LAST]] to %[[DEPTH]]
// CHECK:             moeq_gpu.ring.fill
// CHECK-LABEL: func.func @planned(
// CHECK-SAME:      %[[PLAN:[^:]*]]: memref<9x4xi32>
// CHECK:         gpu.launch_func @planned_kernels::@planned_grouped_matmul blocks in (%c132, %c1, %c1)
// CHECK-SAME:      args({{.*}}%[[PLAN]] : memref<9x4xi32>
func.func @planned(%a: memref<?x512xbf16>, %w: memref<8x256x512xbf16>, %o: memref<9xi32>,
                   %plan: memref<9x4xi32>, %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x256x512xbf16>)
    offsets(%o : memref<9xi32>) plan(%plan : memref<9x4xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [16, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// Consumers take turns with tiles of their own: each skips the stages of the
// others, and passes the turn when it has seen all of its own full.
// CHECK-LABEL: llvm.func @turns_grouped_matmul(
// CHECK:         %[[RING:.*]] = moeq_gpu.ring.create consumers 1 : <4x[16x64xbf16, 64x64xbf16]>
// CHECK:         %[[MAILBOX:.*]] = moeq_gpu.ring.create consumers 2
// CHECK:         } consumers(2, {{[0-9]+}}) {
// CHECK:         ^bb0(%[[CONSUMER:.*]]: i32):
// CHECK:           %[[LAST:.*]] = arith.cmpi eq, %[[CONSUMER]], %c1_i32
// CHECK:           scf.if %[[LAST]] {
// CHECK-NEXT:        moeq_gpu.turn.pass %[[CONSUMER]]
// CHECK-NEXT:      }
// CHECK:           scf.while ({{.*}}, %{{.*}} = %[[CONSUMER]])
// CHECK:             moeq_gpu.ring.receive %[[MAILBOX]]
// CHECK:           } do {
// CHECK:             %[[CURSOR:.*]] = moeq_gpu.ring.uniform
// CHECK:             %[[SKIPPED:.*]] = nvvm.shfl.sync
// CHECK:             %[[OWN:.*]] = arith.cmpi eq, %[[SKIPPED]], %c0_i32
// CHECK:             scf.if %[[OWN]]
// CHECK:               scf.index_switch
// CHECK:               case 1 {
// CHECK:                 moeq_gpu.turn.wait %[[CONSUMER]]
// CHECK:                 scf.for
// CHECK:                   moeq_gpu.mma
// CHECK:                 moeq_gpu.turn.pass %[[CONSUMER]]
// CHECK-NEXT:            moeq_gpu.mma_wait pending 0
// CHECK:                 moeq_gpu.store_transposed
// CHECK:               case 2 {
// CHECK:               default {
// CHECK-NEXT:            moeq_gpu.turn.wait %[[CONSUMER]]
// CHECK-NEXT:            moeq_gpu.turn.pass %[[CONSUMER]]
// CHECK:             } else {
// CHECK:               moeq_gpu.ring.advance %[[RING]][%[[CURSOR]]] by %{{.*}}
func.func @turns(%a: memref<?x512xbf16>, %w: memref<8x256x512xbf16>, %o: memref<9xi32>,
                 %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x256x512xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [16, 64], schedule = ping_pong, swap_ab = true>)
  return
}
