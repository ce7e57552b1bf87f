// RUN: moeq-opt %s --moeq-outline-kernels --split-input-file --verify-diagnostics

func.func @pitch(%a: memref<?x100xi8>, %w: memref<64x100xi8>, %c: memref<?x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: a row of the operands is a multiple of 16 bytes, got 100}}
  moeq.matmul lhs(%a : memref<?x100xi8>) rhs(%w : memref<64x100xi8>) outs(%c : memref<?x64xf32>)
  return
}

// -----

func.func @result_pitch(%a: memref<?x64xbf16>, %w: memref<10x64xbf16>, %c: memref<?x10xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a row of the result is a multiple of 16 bytes, got 20}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<10x64xbf16>) outs(%c : memref<?x10xbf16>)
  return
}

// -----

func.func @types(%a: memref<?x64xf32>, %w: memref<64x64xf32>, %c: memref<?x64xf32>) {
  // expected-remark@+1 {{runs without tensor cores: no tensor core instruction multiplies f32 and f32}}
  moeq.matmul lhs(%a : memref<?x64xf32>) rhs(%w : memref<64x64xf32>) outs(%c : memref<?x64xf32>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [64], scale = f32>
!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @blocks(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x4xf32>,
                  %w: memref<256x256xf8E4M3FN>, %sw: memref<2x2xf32>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: its scales are of other blocks: !moeq.scaled<f8E4M3FN, block = [64], scale = f32>}}
  moeq.matmul lhs(%a, %sa : memref<?x256xf8E4M3FN>, memref<?x4xf32> as !a)
    rhs(%w, %sw : memref<256x256xf8E4M3FN>, memref<2x2xf32> as !b)
    outs(%c : memref<?x256xbf16>) accumulate(<fast>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @promote(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<256x256xf8E4M3FN>, %sw: memref<256x1xf32>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: sums of 128 elements are promoted, got 64}}
  moeq.matmul lhs(%a, %sa : memref<?x256xf8E4M3FN>, memref<?x1xf32> as !a)
    rhs(%w, %sw : memref<256x256xf8E4M3FN>, memref<256x1xf32> as !a)
    outs(%c : memref<?x256xbf16>) accumulate(<promote<64>>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @registers(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2xf32>,
                     %w: memref<256x256xf8E4M3FN>, %sw: memref<256x2xf32>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a consumer has 152 registers a thread, needs 228}}
  moeq.matmul lhs(%a, %sa : memref<?x256xf8E4M3FN>, memref<?x2xf32> as !a)
    rhs(%w, %sw : memref<256x256xf8E4M3FN>, memref<256x2xf32> as !a)
    outs(%c : memref<?x256xbf16>) config(<tile = [192, 256], consumers = 3>)
  return
}

// -----

func.func @shared(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a CTA has 232448 bytes of shared memory, needs 278608}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 256], stages = 5>)
  return
}

// -----

func.func @shared_by_ctas(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a CTA has 115712 bytes of shared memory, needs}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [64, 128], stages = 5, consumers = 1, ctas = 2>)
  return
}

// -----

func.func @registers_of_ctas(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a consumer has 96 registers a thread, needs 128}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 128], stages = 2, ctas = 2>)
  return
}

// -----

func.func @ctas(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a multiprocessor has 1 to 4 CTAs, got 5}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [64, 64], stages = 2, consumers = 1, ctas = 5>)
  return
}

// -----

func.func @cluster_of_ctas(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: the CTAs of a cluster are alone on their multiprocessors, got 2 on each}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [64, 64], stages = 2, consumers = 1, cluster = 2, ctas = 2>)
  return
}

// -----

func.func @swapped_rows(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a tile with swap_ab has a multiple of 8 rows up to 256, got 260}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [260, 128], swap_ab = true>)
  return
}

// -----

func.func @swapped_integers(%a: memref<?x64xi8>, %w: memref<64x64xi8>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a tile with swap_ab has a multiple of 16 rows up to 256, got 24}}
  moeq.matmul lhs(%a : memref<?x64xi8>) rhs(%w : memref<64x64xi8>) outs(%c : memref<?x64xbf16>)
    config(<tile = [24, 128], swap_ab = true>)
  return
}

// -----

func.func @swapped_columns(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: each consumer has 64 or 128 of up to 256 columns of a tile with swap_ab, got 256 columns for 1}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [64, 256], consumers = 1, swap_ab = true>)
  return
}

// -----

func.func @swapped_registers(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a consumer has 240 registers a thread, needs 256}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [208, 128], schedule = ping_pong, swap_ab = true>)
  return
}

// -----

!s = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @swapped_promote(%a: memref<?x256xf8E4M3FN>, %sa: memref<2x?xf32>,
                           %w: memref<8x256x256xf8E4M3FN>, %sw: memref<8x2x2xf32>,
                           %o: memref<9xi32>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a stage has at most 256 scales of rows, got 260}}
  moeq.grouped_matmul lhs(%a, %sa : memref<?x256xf8E4M3FN>, memref<2x?xf32> as !s)
    rhs(%w, %sw : memref<8x256x256xf8E4M3FN>, memref<8x2x2xf32> as !w)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [256, 128], swap_ab = true>)
  return
}

// -----

func.func @consumers(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: there are 1 to 3 consumers, got 4}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [256, 64], consumers = 4>)
  return
}

// -----

func.func @consumer_rows(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: each consumer has 64 rows of the tile, got 2 and 192 rows}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [192, 64]>)
  return
}

// -----

func.func @groups(%a: memref<?x64xbf16>, %w: memref<2048x64x64xbf16>, %o: memref<2049xi32>,
                  %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: there are at most 1024 groups, got 2048}}
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<2048x64x64xbf16>)
    offsets(%o : memref<2049xi32>) outs(%c : memref<?x64xbf16>)
  return
}

// -----

func.func @schedule(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: the schedule is persistent, dynamic or ping_pong, got simple}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 256], schedule = simple>)
  return
}

// -----

func.func @turns(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: at least 2 consumers take turns, got 1}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [64, 256], consumers = 1, schedule = ping_pong>)
  return
}

// -----

func.func @cluster(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a cluster has 1 or 2 CTAs, got 4}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 256], cluster = 4>)
  return
}

// -----

!packed = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
!packed_groups = !moeq.scaled<i8, block = [64], scale = f32, packing = fragments>
module attributes {moeq.target = #moeq.target<chip = "sm_89">} {
  func.func @sync_swapped(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: weights that are not packed are the first operand of wgmma only}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
      config(<tile = [64, 64], consumers = 1, swap_ab = true>)
    return
  }
  func.func @sync_schedule(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: the schedule is persistent without wgmma, got dynamic}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
      config(<tile = [64, 64], consumers = 1, schedule = dynamic>)
    return
  }
  func.func @sync_rounds(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: the threads of 3 consumers copy 48 rows at a time, got a tile of 64 columns}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
      config(<tile = [192, 64], stages = 2, consumers = 3>)
    return
  }
  func.func @sync_rows(%a: memref<?x64xbf16>, %w: memref<64x64xi8>, %s: memref<64x1xf32>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: the threads of 2 consumers copy 32 rows at a time, got a tile of 48 rows}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w, %s : memref<64x64xi8>, memref<64x1xf32> as !packed) outs(%c : memref<?x64xbf16>)
      config(<tile = [48, 128], swap_ab = true>)
    return
  }
  func.func @sync_promoted(%a: memref<?x64xbf16>, %w: memref<64x64xi8>, %s: memref<64x1xf32>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: sums of packed weights are promoted in tiles of at most 64 rows without wgmma, got 128}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w, %s : memref<64x64xi8>, memref<64x1xf32> as !packed_groups) outs(%c : memref<?x64xbf16>)
      config(<tile = [128, 128], stages = 2, swap_ab = true>)
    return
  }
  func.func @sync_memory(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: a CTA has 101376 bytes of shared memory, needs 114688}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
      config(<tile = [128, 128], stages = 3>)
    return
  }
  func.func @sync_cluster(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: a cluster shares copies by tensor maps, got one of 2}}
    moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
      config(<tile = [128, 128], stages = 2, cluster = 2>)
    return
  }
  func.func @sync_transposed(%a: memref<?x64xbf16>, %w: memref<2x64x64xbf16>, %o: memref<3xi32>, %c: memref<?x64xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: operands whose outer dimension is K are those of wgmma only}}
    moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<2x64x64xbf16>) offsets(%o : memref<3xi32>)
      outs(%c : memref<?x64xbf16>) transpose_rhs
    return
  }
}

// -----

func.func @gated(%a: memref<?x64xbf16>, %w: memref<128x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a consumer has a multiple of 128 columns to gate, got 64}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<128x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 64]>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %0 = arith.truncf %up : f32 to bf16
      moeq.yield %0 : bf16
  }
  return
}
