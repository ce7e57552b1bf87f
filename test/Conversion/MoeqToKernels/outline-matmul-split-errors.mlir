// RUN: moeq-opt %s --moeq-outline-kernels --split-input-file --verify-diagnostics

func.func @parts(%a: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: K is split in 2, 4 or 8 parts, got 3}}
  moeq.matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<256x1024xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [128, 128], split_k = 3>)
  return
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_89">} {
  func.func @sync(%a: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %c: memref<?x256xbf16>) {
    // expected-remark@+1 {{runs without tensor cores: the parts of K are those of a cluster, with wgmma only}}
    moeq.matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<256x1024xbf16>) outs(%c : memref<?x256xbf16>)
        config(<tile = [128, 128], stages = 2, split_k = 2>)
    return
  }
}

// -----

func.func @cluster(%a: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: the CTAs of a cluster share tiles or split K, got clusters of 2 and 2 parts}}
  moeq.matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<256x1024xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [128, 128], split_k = 2, cluster = 2>)
  return
}

// -----

func.func @transposed(%a: memref<?x1024xbf16>, %w: memref<8x1024x256xbf16>, %o: memref<9xi32>,
                      %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: K is split of rows times weights [E, N, K], got transposed weights}}
  moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<8x1024x256xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>) transpose_rhs
    config(<tile = [128, 128], split_k = 2>)
  return
}

// -----

func.func @contracted(%a: memref<?x512xbf16>, %w: memref<?x256xbf16>, %o: memref<9xi32>,
                      %c: memref<8x512x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: K is split of rows times weights [E, N, K], got contraction of rows}}
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<?x256xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<8x512x256xbf16>) contract(rows)
    config(<tile = [128, 128], split_k = 2>)
  return
}

// -----

func.func @turns(%a: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: consumers that split K share a tile, got ping_pong}}
  moeq.matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<256x1024xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [64, 128], schedule = ping_pong, split_k = 2>)
  return
}

// -----

func.func @dynamic(%a: memref<?x?xbf16>, %w: memref<256x?xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: K is static where it is split}}
  moeq.matmul lhs(%a : memref<?x?xbf16>) rhs(%w : memref<256x?xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [128, 128], split_k = 2>)
  return
}

// -----

// Parts of two stages leave none of five for the last one.
func.func @short(%a: memref<?x320xbf16>, %w: memref<256x320xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: each part of K has stages of 64 elements, got 4 parts of 320}}
  moeq.matmul lhs(%a : memref<?x320xbf16>) rhs(%w : memref<256x320xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [128, 128], split_k = 4>)
  return
}

// -----

!w = !moeq.scaled<i4, block = [128], scale = bf16, packing = fragments>
func.func @packed(%a: memref<?x640xbf16>, %w: memref<8x256x320xi8>, %s: memref<8x256x5xbf16>,
                  %o: memref<9xi32>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: the parts of K are equal with packed weights, of a multiple of 128 elements, got 2 parts of 640}}
  moeq.grouped_matmul lhs(%a : memref<?x640xbf16>)
    rhs(%w, %s : memref<8x256x320xi8>, memref<8x256x5xbf16> as !w)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [64, 128], swap_ab = true, split_k = 2>)
  return
}

// -----

func.func @memory(%a: memref<?x1024xbf16>, %w: memref<256x1024xbf16>, %c: memref<?x256xbf16>) {
  // expected-remark@+1 {{runs without tensor cores: a CTA has 232448 bytes of shared memory, needs}}
  moeq.matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<256x1024xbf16>) outs(%c : memref<?x256xbf16>)
      config(<tile = [128, 256], stages = 4, split_k = 2>)
  return
}
