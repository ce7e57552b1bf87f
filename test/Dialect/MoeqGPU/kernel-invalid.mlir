// RUN: moeq-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expects a row of a multiple of 128 bytes, got 64}}
func.func private @tile_row(!moeq_gpu.tile<64x64xi8>)

// -----

// expected-error@+1 {{expects a multiple of 8 rows, got 4}}
func.func private @tile_rows(!moeq_gpu.tile<4x128xi8>)

// -----

// expected-error@+1 {{expects one row or a multiple of 64, got 32}}
func.func private @fragment_rows(!moeq_gpu.fragment<32x64xf32>)

// -----

// expected-error@+1 {{expects one column or a multiple of 8, got 12}}
func.func private @fragment_columns(!moeq_gpu.fragment<64x12xf32>)

// -----

// expected-error@+1 {{expects at most 32768 elements, which a warpgroup's registers hold, got 64 x 4294967296}}
func.func private @fragment_elements(!moeq_gpu.fragment<64x4294967296xf32>)

// -----

// expected-error@+1 {{expects an element type of 8, 16 or 32 bits, got 'f64'}}
func.func private @fragment_element(!moeq_gpu.fragment<64x64xf64>)

// -----

// expected-error@+1 {{expects a box of 1 to 256 rows, got 512}}
func.func private @box(!moeq_gpu.tensor_map<512x128xi8>)

// -----

// expected-error@+1 {{expects a box row of 128 bytes, got 256}}
func.func private @box_row(!moeq_gpu.tensor_map<64x128xbf16>)

// -----

// expected-error@+1 {{expects a box row of a multiple of 16 bytes and at most 256 elements, got 6 of 'f32'}}
func.func private @vector_bytes(!moeq_gpu.tensor_map<1x6xf32>)

// -----

// expected-error@+1 {{expects a box row of a multiple of 16 bytes and at most 256 elements, got 260 of 'f32'}}
func.func private @vector_size(!moeq_gpu.tensor_map<1x260xf32>)

// -----

// expected-error@+1 {{expects tiles before vectors, got none}}
func.func private @ring_vector(!moeq_gpu.ring<2x[64xf32]>)

// -----

// expected-error@+1 {{expects tiles of 2 extents, then vectors of 1, got 2 extents}}
func.func private @ring_order(!moeq_gpu.ring<2x[64x128xi8, 64xf32, 64x128xi8]>)

// -----

// expected-error@+1 {{expects only the first tile or vector gathered, got another}}
func.func private @ring_gathered(!moeq_gpu.ring<2x[64x128xi8, gathered 64x128xi8]>)

// -----

// expected-error@+1 {{expects only the first tile or vector gathered, got another}}
func.func private @ring_gathered_vector(!moeq_gpu.ring<2x[64x128xi8, 64xf32, gathered 64xf32]>)

// -----

// expected-error@+1 {{expects 2 to 1024 stages, got 1}}
func.func private @stages(!moeq_gpu.ring<1x[64x128xi8]>)

// -----

// expected-error@+1 {{expects 2 to 1024 stages, got 9223372036854775807}}
func.func private @all_stages(!moeq_gpu.ring<9223372036854775807x[64x128xi8]>)

// -----

// expected-error@+1 {{expects a mailbox of vector<4xi32>, got 'i64'}}
func.func private @word(!moeq_gpu.ring<2x[i64]>)

// -----

// expected-error@+1 {{expects a cluster of a power of two of CTAs up to 2, got 4}}
func.func private @cluster(!moeq_gpu.ring<2x[64x128xi8], cluster = 4>)

// -----

// expected-error@+1 {{expects 0 to 32 groups a lane, got 64}}
func.func private @lanes(!moeq_gpu.schedule<64x64, raster = 1, groups_per_lane = 64>)

// -----

// expected-error@+1 {{expects 2 extents, got 1}}
func.func private @extents(!moeq_gpu.tile<128xi8>)

// -----

func.func @map_element(%a: memref<4x128xbf16>) {
  // expected-error@+1 {{expects elements of type 'i8', got 'bf16'}}
  %0 = moeq_gpu.encode_tensor_map %a : memref<4x128xbf16> -> !moeq_gpu.tensor_map<64x128xi8>
  return
}

// -----

func.func @map_pitch(%a: memref<4x120xi8>) {
  // expected-error@+1 {{expects a row pitch of a multiple of 16 bytes, got 120}}
  %0 = moeq_gpu.encode_tensor_map %a : memref<4x120xi8> -> !moeq_gpu.tensor_map<64x128xi8>
  return
}

// -----

func.func @tiles_rows(%n: index) {
  // expected-error@+1 {{expects either offsets or rows}}
  moeq_gpu.tiles columns(%n) tile [64, 64] {
  ^bb0(%e: index, %r: index, %end: index, %c: index):
  }
  return
}

// -----

func.func @tiles_arguments(%n: index) {
  // expected-error@+1 {{expects 4 index arguments of the body, got 'index'}}
  moeq_gpu.tiles rows(%n) columns(%n) tile [64, 64] {
  ^bb0(%e: index):
  }
  return
}

// -----

func.func @mma_types(%a: !moeq_gpu.tile<64x64xbf16>, %b: !moeq_gpu.tile<64x128xi8>) {
  // expected-error@+1 {{expects operands of 8-bit floats, bf16, f16 or i8, got 'bf16' and 'i8'}}
  %0 = moeq_gpu.mma %a, %b : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x128xi8> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_shape(%a: !moeq_gpu.tile<64x64xbf16>, %b: !moeq_gpu.tile<64x64xbf16>) {
  // expected-error@+1 {{expects a result of 64x64, got '!moeq_gpu.fragment<64x128xf32>'}}
  %0 = moeq_gpu.mma %a, %b : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x128xf32>
  return
}

// -----

func.func @map_broadcast(%a: !moeq_gpu.fragment<64x64xf32>, %i: i32) {
  // expected-error@+1 {{expects operands that broadcast to '!moeq_gpu.fragment<64x128xf32>', got '!moeq_gpu.fragment<64x64xf32>'}}
  %0 = moeq_gpu.map(%a : !moeq_gpu.fragment<64x64xf32>) at(%i, %i) {
  ^bb0(%x: f32, %r: index, %c: index):
    moeq_gpu.yield %x : f32
  } -> !moeq_gpu.fragment<64x128xf32>
  return
}

// -----

func.func @map_yield(%a: !moeq_gpu.fragment<64x64xf32>, %i: i32) {
  // expected-error@+1 {{expects a body that yields 'bf16'}}
  %0 = moeq_gpu.map(%a : !moeq_gpu.fragment<64x64xf32>) at(%i, %i) {
  ^bb0(%x: f32, %r: index, %c: index):
    moeq_gpu.yield %x : f32
  } -> !moeq_gpu.fragment<64x64xbf16>
  return
}

// -----

func.func @send(%ring: !moeq_gpu.ring<2x[64x128xi8]>, %c: !moeq_gpu.cursor, %i: vector<4xi32>) {
  // expected-error@+1 {{expects a mailbox, got '!moeq_gpu.ring<2x[64x128xi8]>'}}
  moeq_gpu.ring.send %i to %ring[%c] : !moeq_gpu.ring<2x[64x128xi8]>
  return
}

// -----

func.func @receive(%ring: !moeq_gpu.ring<2x[64x128xi8]>, %c: !moeq_gpu.cursor) {
  // expected-error@+1 {{expects a mailbox, got '!moeq_gpu.ring<2x[64x128xi8]>'}}
  %0 = moeq_gpu.ring.receive %ring[%c] : !moeq_gpu.ring<2x[64x128xi8]>
  return
}

// -----

func.func @wait(%ring: !moeq_gpu.ring<2x[vector<4xi32>]>, %c: !moeq_gpu.cursor) {
  // expected-error@+1 {{expects a ring of tiles, got '!moeq_gpu.ring<2x[vector<4xi32>]>'}}
  %0 = moeq_gpu.ring.wait %ring[%c] : !moeq_gpu.ring<2x[vector<4xi32>]> -> !moeq_gpu.tile<64x128xi8>
  return
}

// -----

// What a chip can hold.
llvm.func @shared_memory() {
  %ring = moeq_gpu.ring.create consumers 2 : !moeq_gpu.ring<5x[128x128xi8, 256x128xi8]>
  // expected-error@+1 {{expects at most 232448 bytes of shared memory on sm_90a, got 245840}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

// The barriers of the mailbox and its words count: 232448 is exceeded by 32.
llvm.func @mailbox() {
  %ring = moeq_gpu.ring.create consumers 1 : !moeq_gpu.ring<2x[904x128xi8]>
  %mailbox = moeq_gpu.ring.create consumers 1 : !moeq_gpu.ring<32x[vector<4xi32>]>
  // expected-error@+1 {{expects at most 232448 bytes of shared memory on sm_90a, got 232480}}
  moeq_gpu.roles producer(40) {
  } consumers(1, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_89">} {
  llvm.func @shared_memory_of_chip() {
    %ring = moeq_gpu.ring.create consumers 2 : !moeq_gpu.ring<3x[128x128xi8, 256x128xi8]>
    // expected-error@+1 {{expects at most 101376 bytes of shared memory on sm_89, got 147504}}
    moeq_gpu.roles producer(40) {
    } consumers(2, 232) {
    ^bb0(%w: i32):
    }
    llvm.return
  }
}

// -----

// CTAs that share a multiprocessor.
llvm.func @shared_memory_of_ctas() attributes {nvvm.minctasm = 2 : i32} {
  %ring = moeq_gpu.ring.create consumers 1 : !moeq_gpu.ring<4x[128x128xi8, 128x128xi8]>
  // expected-error@+1 {{expects at most 115712 bytes of shared memory on sm_90a, got 131136}}
  moeq_gpu.roles producer(40) {
  } consumers(1, 80) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @registers_of_ctas() attributes {nvvm.minctasm = 2 : i32} {
  // expected-error@+1 {{expects at most the 30720 registers that all threads start with, got 32768}}
  moeq_gpu.roles producer(32) {
  } consumers(2, 112) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @registers() {
  // expected-error@+1 {{expects at most the 64512 registers that all threads start with, got 66560}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 240) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @register_step() {
  // expected-error@+1 {{expects a multiple of 8 from 24 to 256 registers for the producer, got 20}}
  moeq_gpu.roles producer(20) {
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @threads() {
  // expected-error@+1 {{expects at most 1024 threads, got 1152}}
  moeq_gpu.roles producer(24) {
  } consumers(8, 24) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @ring_consumers() {
  %ring = moeq_gpu.ring.create consumers 3 : !moeq_gpu.ring<2x[64x128xi8]>
  // expected-error@+1 {{expects rings for 2 consumers, got 3}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @helpers() {
  // expected-error@+1 {{expects no argument of the helpers' region, got 1}}
  moeq_gpu.roles producer(40) {
  } helpers {
  ^bb0(%w: i32):
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

// Only producers of a cluster have mail for each other.
llvm.func @ring_producers() {
  %ring = moeq_gpu.ring.create consumers 0 : !moeq_gpu.ring<2x[vector<4xi32>]>
  // expected-error@+1 {{expects rings for 2 consumers, got 0}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @ring_cluster() {
  %ring = moeq_gpu.ring.create consumers 2 : !moeq_gpu.ring<2x[64x128xi8], cluster = 2>
  // expected-error@+1 {{expects a kernel with clusters of 2, got 1}}
  moeq_gpu.roles producer(40) {
  } consumers(2, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

func.func @fill_shared(%ring: !moeq_gpu.ring<2x[64x128xi8], cluster = 2>, %c: !moeq_gpu.cursor,
                       %map: !moeq_gpu.tensor_map<32x128xi8>, %i: i32) {
  // expected-error@+1 {{expects 1 shared bits for '!moeq_gpu.ring<2x[64x128xi8], cluster = 2>', got 0}}
  moeq_gpu.ring.fill %ring[%c] from(%map at %i, %i)
    : !moeq_gpu.ring<2x[64x128xi8], cluster = 2>, !moeq_gpu.tensor_map<32x128xi8>
  return
}

// -----

// Each CTA copies half of a tile.
func.func @fill_half(%ring: !moeq_gpu.ring<2x[64x128xi8], cluster = 2>, %c: !moeq_gpu.cursor,
                     %map: !moeq_gpu.tensor_map<64x128xi8>, %i: i32, %x: i1) {
  // expected-error@+1 {{expects a tensor map that fills '!moeq_gpu.tile<64x128xi8>', got '!moeq_gpu.tensor_map<64x128xi8>'}}
  moeq_gpu.ring.fill %ring[%c] from(%map at %i, %i) shared(%x)
    : !moeq_gpu.ring<2x[64x128xi8], cluster = 2>, !moeq_gpu.tensor_map<64x128xi8>
  return
}

// -----

// Without a producer nobody fills a ring.
llvm.func @ring_without_producer() {
  %ring = moeq_gpu.ring.create consumers 1 : !moeq_gpu.ring<2x[64x128xi8]>
  // expected-error@+1 {{expects a producer that fills the rings, got none}}
  moeq_gpu.roles consumers(1, 232) {
  ^bb0(%w: i32):
  }
  llvm.return
}

// -----

llvm.func @copy_beside_producer(%p: !llvm.ptr<1>, %i: i32, %r: i64) {
  %t = moeq_gpu.alloc : !moeq_gpu.tile<64x128xi8>
  moeq_gpu.roles producer(40) {
  } consumers(1, 232) {
  ^bb0(%w: i32):
    // expected-error@+1 {{expects to be in a kernel without a producer}}
    moeq_gpu.copy %p[%i] columns(%i) rows(%r) to %t : !moeq_gpu.tile<64x128xi8>
  }
  llvm.return
}

// -----

llvm.func @copy_rows(%p: !llvm.ptr<1>, %i: i32, %r: i64) {
  %t = moeq_gpu.alloc : !moeq_gpu.tile<64x128xi8>
  moeq_gpu.roles consumers(2, 232) {
  ^bb0(%w: i32):
    // expected-error@+1 {{expects an offset for each 32 rows of '!moeq_gpu.tile<64x128xi8>', got 1}}
    moeq_gpu.copy %p[%i] columns(%i) rows(%r) to %t : !moeq_gpu.tile<64x128xi8>
  }
  llvm.return
}

// -----

llvm.func @copy_panels(%p: !llvm.ptr<1>, %i: i32, %r: i64) {
  %t = moeq_gpu.alloc : !moeq_gpu.tile<64x256xi8>
  // expected-error@+1 {{expects a tile of one panel, got 2}}
  moeq_gpu.copy %p[%i] columns(%i) rows(%r) to %t : !moeq_gpu.tile<64x256xi8>
  llvm.return
}

// -----

llvm.func @copy_vector_beside_producer(%p: !llvm.ptr<1>, %e: i1) {
  %v = moeq_gpu.alloc : !moeq_gpu.vector<64xi8>
  moeq_gpu.roles producer(40) {
  } consumers(1, 232) {
  ^bb0(%w: i32):
    // expected-error@+1 {{'moeq_gpu.copy_vector' op expects to be in a kernel without a producer}}
    moeq_gpu.copy_vector %p if %e to %v : !moeq_gpu.vector<64xi8>
  }
  llvm.return
}

// -----

func.func @copy_vector_size(%p: !llvm.ptr<1>, %e: i1, %v: !moeq_gpu.vector<18xf32>) {
  // expected-error@+1 {{'moeq_gpu.copy_vector' op expects a multiple of 16 bytes, got 72}}
  moeq_gpu.copy_vector %p if %e to %v : !moeq_gpu.vector<18xf32>
  return
}

// -----

func.func @mma_sync(%a: !moeq_gpu.tile<64x64xbf16>, %b: !moeq_gpu.tile<64x64xf16>, %c: !moeq_gpu.fragment<64x64xf32>) {
  // expected-error@+1 {{expects operands of 8-bit floats, bf16, f16 or i8, got 'bf16' and 'f16'}}
  %0 = moeq_gpu.mma_sync %a, %b, %c : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x64xf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_sync_shape(%a: !moeq_gpu.tile<64x64xbf16>, %b: !moeq_gpu.tile<32x64xbf16>, %c: !moeq_gpu.fragment<64x64xf32>) {
  // expected-error@+1 {{expects a result of 64x32, got '!moeq_gpu.fragment<64x64xf32>'}}
  %0 = moeq_gpu.mma_sync %a, %b, %c : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<32x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

llvm.func @no_producer() {
  // expected-error @+1 {{expects no registers without a producer region, got 24}}
  "moeq_gpu.roles"() <{consumer_registers = 128 : i64, consumers = 1 : i64, producer_registers = 24 : i64}> ({
  }, {
  }, {
  ^bb0(%i: i32):
    "moeq_gpu.yield"() : () -> ()
  }) : () -> ()
  llvm.return
}
