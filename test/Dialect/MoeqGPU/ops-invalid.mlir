// RUN: moeq-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expects the number of stages, got 2 extents}}
func.func private @ring_stages(!moeq_gpu.ring<4x2x[64x128xi8]>)

// -----

// expected-error@+1 {{expects a tile, got 0x64}}
func.func private @schedule_tile(!moeq_gpu.schedule<0x64, raster = 1, groups_per_lane = 1>)

// -----

// expected-error@+1 {{expects a raster or a step of at least 1, got 0 and 0}}
func.func private @schedule_raster(!moeq_gpu.schedule<64x64, raster = 0, groups_per_lane = 1>)

// -----

// expected-error@+1 {{expects rows that are a multiple of the step, got 60 and 8}}
func.func private @schedule_step(!moeq_gpu.schedule<60x64, step = 8, groups_per_lane = 1>)

// -----

// expected-error@+1 {{expects a step that is a multiple of 8 and divides 64 rows, got 24}}
func.func private @map_step(!moeq_gpu.tensor_map<64x128xi8, step = 24>)

// -----

// expected-error@+1 {{expects 1 to 256 elements, got 257}}
func.func private @striped_size(!moeq_gpu.striped<257xf32>)

// -----

// expected-error@+1 {{expects 1 extent, got 2}}
func.func private @striped_extents(!moeq_gpu.striped<2x2xf32>)

// -----

func.func @spread_offset(%v: !moeq_gpu.vector<40xf32>) {
  // expected-error@+1 {{expects one row or column with elements of '!moeq_gpu.vector<40xf32>', got '!moeq_gpu.fragment<1x32xf32>' at 16}}
  %0 = moeq_gpu.spread %v[16] : !moeq_gpu.vector<40xf32> -> !moeq_gpu.fragment<1x32xf32>
  return
}

// -----

func.func @store_striped_size(%v: !moeq_gpu.striped<48xf32>, %t: !moeq_gpu.vector<40xf32>) {
  // expected-error@+1 {{expects at most the elements of '!moeq_gpu.vector<40xf32>', got '!moeq_gpu.striped<48xf32>'}}
  moeq_gpu.store_striped %v, %t : !moeq_gpu.striped<48xf32>, !moeq_gpu.vector<40xf32>
  return
}

// -----

func.func @store_transposed_type(%f: !moeq_gpu.fragment<64x8xi8>, %t: !moeq_gpu.tile<8x128xi8>,
                                 %p: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects elements of 16 or 32 bits, got 'i8'}}
  moeq_gpu.store_transposed %f, %t, %p[%i, %i] pitch(%n) : !moeq_gpu.fragment<64x8xi8>, !moeq_gpu.tile<8x128xi8>
  return
}

// -----

func.func @store_transposed_tile(%f: !moeq_gpu.fragment<64x40xbf16>, %t: !moeq_gpu.tile<32x64xbf16>,
                                 %p: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a value of 64 rows and a tile like its transpose, got '!moeq_gpu.fragment<64x40xbf16>' and '!moeq_gpu.tile<32x64xbf16>'}}
  moeq_gpu.store_transposed %f, %t, %p[%i, %i] pitch(%n) : !moeq_gpu.fragment<64x40xbf16>, !moeq_gpu.tile<32x64xbf16>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xi8]>
func.func @fill_rows(%ring: !ring, %c: !moeq_gpu.cursor, %a: !moeq_gpu.tensor_map<64x128xi8, step = 8>, %i: i32) {
  // expected-error@+1 {{expects a tile like the largest box, and rows, for '!moeq_gpu.tensor_map<64x128xi8, step = 8>', got '!moeq_gpu.tile<64x128xi8>'}}
  moeq_gpu.ring.fill %ring[%c] from(%a at %i, %i) : !ring, !moeq_gpu.tensor_map<64x128xi8, step = 8>
  return
}

// -----

func.func @schedule_of(%n: i32) {
  // expected-error@+1 {{expects one of offsets, plan and rows, got 0}}
  %0 = moeq_gpu.schedule columns(%n) : !moeq_gpu.schedule<64x64, raster = 1, groups_per_lane = 1>
  return
}

// -----

func.func @schedule_lanes(%n: i32) {
  // expected-error@+1 {{expects rows where no lane has groups, else their number, got '!moeq_gpu.schedule<64x64, raster = 1, groups_per_lane = 1>'}}
  %0 = moeq_gpu.schedule rows(%n) columns(%n) : !moeq_gpu.schedule<64x64, raster = 1, groups_per_lane = 1>
  return
}

// -----

func.func @schedule_plan(%n: i32, %p: !llvm.ptr<1>) {
  // expected-error@+1 {{expects a plan for a planned schedule only, got '!moeq_gpu.schedule<64x64, step = 8, groups_per_lane = 1>'}}
  %0 = moeq_gpu.schedule plan(%p) groups(%n) columns(%n) : !moeq_gpu.schedule<64x64, step = 8, groups_per_lane = 1>
  return
}

// -----

func.func @schedule_counts(%n: i32, %p: !llvm.ptr<1>) {
  // expected-error@+1 {{expects counts for a masked schedule only, got '!moeq_gpu.schedule<64x64, step = 8, groups_per_lane = 1>'}}
  %0 = moeq_gpu.schedule counts(%p) groups(%n) rows(%n) columns(%n) : !moeq_gpu.schedule<64x64, step = 8, groups_per_lane = 1>
  return
}

// -----

func.func @tiles_tile(%n: index) {
  // expected-error@+1 {{expects a tile, got 64x0}}
  moeq_gpu.tiles rows(%n) columns(%n) tile [64, 0] {
  ^bb0(%e: index, %r: index, %end: index, %c: index):
  }
  return
}

// -----

func.func @map_layout(%a: memref<4x128xi8, strided<[256, 1]>>) {
  // expected-error@+1 {{expects a contiguous memref, got 'memref<4x128xi8, strided<[256, 1]>>'}}
  %0 = moeq_gpu.encode_tensor_map %a : memref<4x128xi8, strided<[256, 1]>> -> !moeq_gpu.tensor_map<64x128xi8>
  return
}

// -----

func.func @subtile_panels(%t: !moeq_gpu.tile<64x256xi8>, %row: i32) {
  // expected-error@+1 {{expects a source of one panel, got 2}}
  %0 = moeq_gpu.subtile %t[%row] : !moeq_gpu.tile<64x256xi8> -> !moeq_gpu.tile<8x256xi8>
  return
}

// -----

func.func @subtile_rows(%t: !moeq_gpu.tile<64x128xi8>, %row: i32) {
  // expected-error@+1 {{expects rows of '!moeq_gpu.tile<64x128xi8>', got '!moeq_gpu.tile<128x128xi8>'}}
  %0 = moeq_gpu.subtile %t[%row] : !moeq_gpu.tile<64x128xi8> -> !moeq_gpu.tile<128x128xi8>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xi8, 64x128xi8]>
!map = !moeq_gpu.tensor_map<64x128xi8>
func.func @fill_maps(%ring: !ring, %c: !moeq_gpu.cursor, %a: !map, %i: i32) {
  // expected-error@+1 {{expects 2 tensor maps, got 1}}
  moeq_gpu.ring.fill %ring[%c] from(%a at %i, %i) : !ring, !map
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xi8]>
!map = !moeq_gpu.tensor_map<64x128xi8>
func.func @fill_coordinates(%ring: !ring, %c: !moeq_gpu.cursor, %a: !map, %i: i32) {
  // expected-error@+1 {{expects 2 coordinates, got 3}}
  moeq_gpu.ring.fill %ring[%c] from(%a at %i, %i, %i) : !ring, !map
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xi8]>
!map = !moeq_gpu.tensor_map<48x128xi8>
func.func @fill_box(%ring: !ring, %c: !moeq_gpu.cursor, %a: !map, %i: i32) {
  // expected-error@+1 {{expects a tensor map that fills '!moeq_gpu.tile<64x128xi8>', got '!moeq_gpu.tensor_map<48x128xi8>'}}
  moeq_gpu.ring.fill %ring[%c] from(%a at %i, %i) : !ring, !map
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xi8]>
func.func @wait_results(%ring: !ring, %c: !moeq_gpu.cursor) {
  // expected-error@+1 {{expects the payload types as results, got '!moeq_gpu.tile<8x128xi8>'}}
  %0 = moeq_gpu.ring.wait %ring[%c] : !ring -> !moeq_gpu.tile<8x128xi8>
  return
}

// -----

func.func @mma_result(%a: !moeq_gpu.tile<64x128xi8>) {
  // expected-error@+1 {{expects a result of i32, got 'f32'}}
  %0 = moeq_gpu.mma %a, %a : !moeq_gpu.tile<64x128xi8>, !moeq_gpu.tile<64x128xi8> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_panels(%a: !moeq_gpu.tile<64x128xi8>, %b: !moeq_gpu.tile<64x256xi8>) {
  // expected-error@+1 {{expects operands of one panel and the same columns, got '!moeq_gpu.tile<64x128xi8>' and '!moeq_gpu.tile<64x256xi8>'}}
  %0 = moeq_gpu.mma %a, %b : !moeq_gpu.tile<64x128xi8>, !moeq_gpu.tile<64x256xi8> -> !moeq_gpu.fragment<64x64xi32>
  return
}

// -----

func.func @mma_columns(%a: !moeq_gpu.tile<64x128xi8>, %b: !moeq_gpu.tile<264x128xi8>) {
  // expected-error@+1 {{expects at most 256 rows of b, got 264}}
  %0 = moeq_gpu.mma %a, %b : !moeq_gpu.tile<64x128xi8>, !moeq_gpu.tile<264x128xi8> -> !moeq_gpu.fragment<64x264xi32>
  return
}

// -----

func.func @mma_integers(%a: !moeq_gpu.tile<64x128xi8>, %b: !moeq_gpu.tile<40x128xi8>) {
  // expected-error@+1 {{expects a multiple of 16 rows of b, past 32, for integers, got 40}}
  %0 = moeq_gpu.mma %a, %b : !moeq_gpu.tile<64x128xi8>, !moeq_gpu.tile<40x128xi8> -> !moeq_gpu.fragment<64x40xi32>
  return
}

// -----

func.func @mma_accumulator(%a: !moeq_gpu.tile<64x128xi8>, %c: !moeq_gpu.fragment<64x8xi32>) {
  // expected-error@+1 {{expects an accumulator of '!moeq_gpu.fragment<64x64xi32>', got '!moeq_gpu.fragment<64x8xi32>'}}
  %0 = "moeq_gpu.mma"(%a, %a, %c) : (!moeq_gpu.tile<64x128xi8>, !moeq_gpu.tile<64x128xi8>, !moeq_gpu.fragment<64x8xi32>) -> !moeq_gpu.fragment<64x64xi32>
  return
}

// -----

func.func @slice_columns(%f: !moeq_gpu.fragment<64x64xf32>) {
  // expected-error@+1 {{expects a part of '!moeq_gpu.fragment<64x64xf32>', got '!moeq_gpu.fragment<64x32xf32>' at 0, 40}}
  %0 = moeq_gpu.slice %f[0, 40] : !moeq_gpu.fragment<64x64xf32> -> !moeq_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @map_arguments(%a: !moeq_gpu.fragment<64x64xf32>, %i: i32) {
  // expected-error@+1 {{expects 3 arguments of the body, got 2}}
  %0 = moeq_gpu.map(%a : !moeq_gpu.fragment<64x64xf32>) at(%i, %i) {
  ^bb0(%x: f32, %r: index):
    moeq_gpu.yield %x : f32
  } -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @map_argument(%a: !moeq_gpu.fragment<64x64xf32>, %i: i32) {
  // expected-error@+1 {{expects a body argument of 'f32', got 'bf16'}}
  %0 = moeq_gpu.map(%a : !moeq_gpu.fragment<64x64xf32>) at(%i, %i) {
  ^bb0(%x: bf16, %r: index, %c: index):
    moeq_gpu.yield %x : bf16
  } -> !moeq_gpu.fragment<64x64xbf16>
  return
}

// -----

func.func @map_row(%a: !moeq_gpu.fragment<64x64xf32>, %i: i32) {
  // expected-error@+1 {{expects row and column of type index, got 'i32'}}
  %0 = moeq_gpu.map(%a : !moeq_gpu.fragment<64x64xf32>) at(%i, %i) {
  ^bb0(%x: f32, %r: i32, %c: index):
    moeq_gpu.yield %x : f32
  } -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

!map = !moeq_gpu.tensor_map<64x128xi8>
func.func @store_element(%f: !moeq_gpu.fragment<64x128xi8>, %t: !moeq_gpu.tile<64x128xi8>, %m: !map, %p: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects elements of 16 or 32 bits, got 'i8'}}
  moeq_gpu.store %f, %t, %p[%i, %i] pitch(%n) map(%m : !map) : !moeq_gpu.fragment<64x128xi8>, !moeq_gpu.tile<64x128xi8>
  return
}

// -----

!map = !moeq_gpu.tensor_map<64x64xbf16>
func.func @store_tile(%f: !moeq_gpu.fragment<64x64xbf16>, %t: !moeq_gpu.tile<64x128xbf16>, %m: !map, %p: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a value of 64 rows and a tile like it, got '!moeq_gpu.fragment<64x64xbf16>' and '!moeq_gpu.tile<64x128xbf16>'}}
  moeq_gpu.store %f, %t, %p[%i, %i] pitch(%n) map(%m : !map) : !moeq_gpu.fragment<64x64xbf16>, !moeq_gpu.tile<64x128xbf16>
  return
}

// -----

!map = !moeq_gpu.tensor_map<32x64xbf16>
func.func @store_map(%f: !moeq_gpu.fragment<64x64xbf16>, %t: !moeq_gpu.tile<64x64xbf16>, %m: !map, %p: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a tensor map of 64 rows of 'bf16', got '!moeq_gpu.tensor_map<32x64xbf16>'}}
  moeq_gpu.store %f, %t, %p[%i, %i] pitch(%n) map(%m : !map) : !moeq_gpu.fragment<64x64xbf16>, !moeq_gpu.tile<64x64xbf16>
  return
}

// -----

llvm.func @consumer_argument() {
  // expected-error@+1 {{expects one i32 argument of the consumer region, got 0 arguments}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 232) {
  }
  llvm.return
}

// -----

llvm.func @producer_argument() {
  // expected-error@+1 {{expects no argument of the producer region, got 1}}
  moeq_gpu.roles producer(40) {
  ^bb0(%w: i32):
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @nested(%condition: i1) {
  scf.if %condition {
    // expected-error@+1 {{expects to be in the body of a function}}
    moeq_gpu.roles producer(40) {
    } consumers(2, 232) {
    ^bb0(%w: i32):
    }
  }
  llvm.return
}

// -----

llvm.func @aligned_transposed(%base: !llvm.ptr<1>, %i: i32, %pitch: i64) {
  // expected-error@+1 {{expects aligned pairs of columns in a row-major matrix only, got transposed}}
  %0 = moeq_gpu.load %base[%i, %i] pitch(%pitch) aligned transposed : !moeq_gpu.fragment<1x64xf32>
  llvm.return
}

// -----

func.func @yield_outside() {
  // expected-error@+1 {{'moeq_gpu.yield' op expects parent op to be one of 'moeq_gpu.map, moeq_gpu.roles, moeq_gpu.tiles'}}
  moeq_gpu.yield
}

// -----

func.func @gather_ring(%ring: !moeq_gpu.ring<2x[64x128xi8]>, %c: !moeq_gpu.cursor, %a: !llvm.ptr<1>, %i: i32) {
  // expected-error@+1 {{expects a gathered ring, got '!moeq_gpu.ring<2x[64x128xi8]>'}}
  moeq_gpu.ring.gather %ring[%c] from(%a, %i) pitch(%i) indices(%i, %i) : !moeq_gpu.ring<2x[64x128xi8]>
  return
}

// -----

func.func @gather_indices(%ring: !moeq_gpu.ring<2x[gathered 192x128xi8]>, %c: !moeq_gpu.cursor, %a: !llvm.ptr<1>, %i: i32) {
  // expected-error@+1 {{expects 2 indices a thread, got 1}}
  moeq_gpu.ring.gather %ring[%c] from(%a, %i) pitch(%i) indices(%i) : !moeq_gpu.ring<2x[gathered 192x128xi8]>
  return
}

// -----

func.func @gather_vector_ring(%ring: !moeq_gpu.ring<2x[64x128xi8, gathered 64xf32]>, %c: !moeq_gpu.cursor, %a: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a ring with a gathered vector 1, got '!moeq_gpu.ring<2x[64x128xi8, gathered 64xf32]>'}}
  moeq_gpu.ring.gather_vector %ring[%c] number 1 from(%a, %n) pitch(%n) indices(%i) : !moeq_gpu.ring<2x[64x128xi8, gathered 64xf32]>
  return
}

// -----

func.func @gather_vector_mapped(%ring: !moeq_gpu.ring<2x[64x128xi8, 64xf32]>, %c: !moeq_gpu.cursor, %a: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a ring with a gathered vector 0, got '!moeq_gpu.ring<2x[64x128xi8, 64xf32]>'}}
  moeq_gpu.ring.gather_vector %ring[%c] number 0 from(%a, %n) pitch(%n) indices(%i) : !moeq_gpu.ring<2x[64x128xi8, 64xf32]>
  return
}

// -----

func.func @gather_vector_indices(%ring: !moeq_gpu.ring<2x[64x128xi8, gathered 64xf32]>, %c: !moeq_gpu.cursor, %a: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects 1 indices a thread, got 2}}
  moeq_gpu.ring.gather_vector %ring[%c] number 0 from(%a, %n) pitch(%n) indices(%i, %i) : !moeq_gpu.ring<2x[64x128xi8, gathered 64xf32]>
  return
}

// -----

func.func @gathered_nothing(%ring: !moeq_gpu.ring<2x[64x128xi8]>, %c: !moeq_gpu.cursor) {
  // expected-error@+1 {{expects a ring with a gathered part, got '!moeq_gpu.ring<2x[64x128xi8]>'}}
  moeq_gpu.ring.gathered %ring[%c] : !moeq_gpu.ring<2x[64x128xi8]>
  return
}

// -----

func.func @fill_vector(%ring: !moeq_gpu.ring<2x[64x128xi8, 64xf32]>, %c: !moeq_gpu.cursor, %i: i32, %map: !moeq_gpu.tensor_map<64x128xi8>, %v: !moeq_gpu.tensor_map<1x128xf32>) {
  // expected-error@+1 {{expects a tensor map that fills '!moeq_gpu.vector<64xf32>', got '!moeq_gpu.tensor_map<1x128xf32>'}}
  moeq_gpu.ring.fill %ring[%c] from(%map, %v at %i, %i, %i, %i) : !moeq_gpu.ring<2x[64x128xi8, 64xf32]>, !moeq_gpu.tensor_map<64x128xi8>, !moeq_gpu.tensor_map<1x128xf32>
  return
}

// -----

func.func @load_gathered(%a: !llvm.ptr<1>, %i: i32, %n: i64) {
  // expected-error@+1 {{expects a vector to gather, got '!moeq_gpu.fragment<64x8xf32>'}}
  %0 = moeq_gpu.load %a[%i, %i] pitch(%n) indices(%a) : !moeq_gpu.fragment<64x8xf32>
  return
}

// -----

func.func @mma_transpose_bytes(%a: !moeq_gpu.tile<128x128xi8>, %b: !moeq_gpu.tile<64x128xi8>) {
  // expected-error@+1 {{expects 16-bit operands to transpose, got 'i8'}}
  %0 = moeq_gpu.mma %a, %b transpose_a : !moeq_gpu.tile<128x128xi8>, !moeq_gpu.tile<64x128xi8> -> !moeq_gpu.fragment<128x64xi32>
  return
}

// -----

func.func @mma_transpose_depth(%a: !moeq_gpu.tile<64x64xbf16>, %b: !moeq_gpu.tile<128x64xbf16>) {
  // expected-error@+1 {{expects operands of one panel and the same columns, got '!moeq_gpu.tile<64x64xbf16>' and '!moeq_gpu.tile<128x64xbf16>'}}
  %0 = moeq_gpu.mma %a, %b transpose_b : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<128x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x128xbf16]>
func.func @fill_step_panels(%ring: !ring, %c: !moeq_gpu.cursor, %a: !moeq_gpu.tensor_map<64x64xbf16, step = 8>, %i: i32) {
  // expected-error@+1 {{expects a tile like the largest box, and rows, for '!moeq_gpu.tensor_map<64x64xbf16, step = 8>', got '!moeq_gpu.tile<64x128xbf16>'}}
  moeq_gpu.ring.fill %ring[%c] from(%a at %i, %i) rows(%i) : !ring, !moeq_gpu.tensor_map<64x64xbf16, step = 8>
  return
}
