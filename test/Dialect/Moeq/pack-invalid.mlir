// RUN: moeq-opt %s -verify-diagnostics -split-input-file

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @count(%v: tensor<4x256xf8E4M3FN>) {
  // expected-error @below {{'moeq.pack' op expects 2 components of 'tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>', got 1}}
  %0 = moeq.pack %v : tensor<4x256xf8E4M3FN> -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @none() {
  // expected-error @below {{'moeq.pack' op expects 2 components of 'tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>', got 0}}
  %0 = "moeq.pack"() : () -> tensor<4x256x!a>
  return
}

// -----

// Four scales a row where eight are due: a shorter list that shares a prefix.
!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @scales(%v: tensor<2x8x16xi8>, %s: tensor<2x4x1xf32>) {
  // expected-error @below {{'moeq.pack' op expects component 1 of type 'tensor<2x8x1xf32>', got 'tensor<2x4x1xf32>'}}
  %0 = moeq.pack %v, %s : tensor<2x8x16xi8>, tensor<2x4x1xf32> -> tensor<2x8x16x!w>
  return
}

// -----

!z = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>
func.func @zeros(%v: tensor<4x32xi8>, %s: tensor<4x2xbf16>, %z: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.pack' op expects component 2 of type 'tensor<4x2xi8>', got 'tensor<4x2xf32>'}}
  %0 = moeq.pack %v, %s, %z : tensor<4x32xi8>, tensor<4x2xbf16>, tensor<4x2xf32> -> tensor<4x64x!z>
  return
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = f32>
func.func @unpacked_values(%v: tensor<4x64xi4>, %s: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.pack' op expects component 0 of type 'tensor<4x32xi8>', got 'tensor<4x64xi4>'}}
  %0 = moeq.pack %v, %s : tensor<4x64xi4>, tensor<4x2xf32> -> tensor<4x64x!w>
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @rank(%v: tensor<256xf8E4M3FN>, %s: tensor<2xf32>) {
  // expected-error @below {{'moeq.pack' op result #0 must be ranked tensor of !moeq.scaled whose rank is at least that of the block, or 2 if it has groups, with a static last extent if values have 4 bits, but got 'tensor<256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'}}
  %0 = moeq.pack %v, %s : tensor<256xf8E4M3FN>, tensor<2xf32> -> tensor<256x!b>
  return
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = f32>
func.func @dynamic_nibbles(%x: tensor<4x?x!w>) {
  // expected-error @below {{'moeq.unpack' op operand #0 must be ranked tensor of !moeq.scaled whose rank is at least that of the block, or 2 if it has groups, with a static last extent if values have 4 bits, but got 'tensor<4x?x!moeq.scaled<i4, block = [32], scale = f32>>'}}
  %0:2 = moeq.unpack %x : tensor<4x?x!w> -> tensor<4x?xi8>, tensor<4x?xf32>
  return
}

// -----

func.func @plain(%x: tensor<4x8xi8>) {
  // expected-error @below {{'moeq.unpack' op operand #0 must be ranked tensor of !moeq.scaled}}
  %0:2 = moeq.unpack %x : tensor<4x8xi8> -> tensor<4x8xi8>, tensor<4x1xf32>
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @unranked(%x: tensor<*x!w>) {
  // expected-error @below {{custom op 'moeq.unpack' invalid kind of type specified: expected builtin.tensor}}
  %0:2 = moeq.unpack %x : tensor<*x!w> -> tensor<4x8xi8>, tensor<4x1xf32>
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @encoding(%x: tensor<4x8x!w, "dense">) {
  // expected-error @below {{'moeq.unpack' op operand #0 must be ranked tensor of !moeq.scaled}}
  %0:2 = moeq.unpack %x : tensor<4x8x!w, "dense"> -> tensor<4x8xi8>, tensor<4x1xf32>
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @unpack_count(%x: tensor<4x8x!w>) {
  // expected-error @below {{'moeq.unpack' op expects 2 components of 'tensor<4x8x!moeq.scaled<i8, block = [*], scale = f32>>', got 3}}
  %0:3 = moeq.unpack %x : tensor<4x8x!w> -> tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xf32>
  return
}
