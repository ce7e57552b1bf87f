// RUN: moeq-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expects an element type of f32 or i32, got 'bf16'}}
func.func private @element(!moeq_gpu.exchange<1x512xbf16, cluster = 2>)

// -----

// expected-error@+1 {{expects parts of a multiple of 512 elements up to 32768, got 500}}
func.func private @size(!moeq_gpu.exchange<1x500xf32, cluster = 2>)

// -----

// expected-error@+1 {{expects 1 to 2 parts, got 3}}
func.func private @parts(!moeq_gpu.exchange<3x16384xf32, cluster = 2>)

// -----

// expected-error@+1 {{expects a cluster of 2, 4 or 8 CTAs, got 3}}
func.func private @cluster(!moeq_gpu.exchange<1x512xf32, cluster = 3>)

// -----

// expected-error@+1 {{expects a cluster of a power of two of CTAs up to 8, got 16}}
func.func private @mailbox(!moeq_gpu.ring<2x[vector<4xi32>], cluster = 16>)

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
llvm.func @of_cluster() attributes {nvvm.cluster_dim = array<i32: 4, 1, 1>} {
  %x = moeq_gpu.exchange.create : !exchange
  // expected-error@+1 {{expects a kernel with clusters of 2, got 4}}
  moeq_gpu.roles producer(40) {
  } consumers(1, 232) {
  ^bb0(%warpgroup: i32):
  }
  llvm.return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @swap_pieces(%x: !exchange, %i: i32, %f: !moeq_gpu.fragment<64x8xf32>) {
  // expected-error@+1 {{expects parts of 2 fragments, got 3 fragments}}
  moeq_gpu.exchange.swap %x[%i] own(%i)
      parts(%f, %f, %f : !moeq_gpu.fragment<64x8xf32>, !moeq_gpu.fragment<64x8xf32>, !moeq_gpu.fragment<64x8xf32>)
      pieces 2 : !exchange
  return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @swap_parts(%x: !exchange, %i: i32, %f: !moeq_gpu.fragment<64x8xf32>) {
  // expected-error@+1 {{expects at most 2 parts, got 3}}
  moeq_gpu.exchange.swap %x[%i] own(%i)
      parts(%f, %f, %f : !moeq_gpu.fragment<64x8xf32>, !moeq_gpu.fragment<64x8xf32>, !moeq_gpu.fragment<64x8xf32>)
      : !exchange
  return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @swap_size(%x: !exchange, %i: i32, %f: !moeq_gpu.fragment<64x64xf32>) {
  // expected-error@+1 {{expects at most 2048 elements a part, got 4096}}
  moeq_gpu.exchange.swap %x[%i] own(%i) parts(%f : !moeq_gpu.fragment<64x64xf32>) : !exchange
  return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @sum_element(%x: !exchange, %f: !moeq_gpu.fragment<64x8xi32>) {
  // expected-error@+1 {{expects fragments of 'f32', got '!moeq_gpu.fragment<64x8xi32>'}}
  %s = moeq_gpu.exchange.sum %x part 0 (%f : !moeq_gpu.fragment<64x8xi32>) : !exchange
  return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @sum_whole(%x: !exchange, %f: !moeq_gpu.fragment<64x1xf32>) {
  // expected-error@+1 {{expects whole fragments, got '!moeq_gpu.fragment<64x1xf32>'}}
  %s = moeq_gpu.exchange.sum %x part 0 (%f : !moeq_gpu.fragment<64x1xf32>) : !exchange
  return
}

// -----

!exchange = !moeq_gpu.exchange<1x2048xf32, cluster = 2>
func.func @sum_part(%x: !exchange, %f: !moeq_gpu.fragment<64x8xf32>) {
  // expected-error@+1 {{expects a part below 2, got 2}}
  %s = moeq_gpu.exchange.sum %x part 2 (%f : !moeq_gpu.fragment<64x8xf32>) : !exchange
  return
}
