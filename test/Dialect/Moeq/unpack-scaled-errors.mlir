// RUN: moeq-opt %s -moeq-unpack-scaled -verify-diagnostics -split-input-file

// Types.

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// expected-error@+1 {{expects a tensor of rank at least 2, that of its scale block, got 'tensor<4x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'}}
func.func @bad_rank(%a: tensor<4x!w>) {
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// expected-error@+1 {{'func.func' op argument 1 expects a tensor of rank at least 2}}
func.func private @bad_rank_declared(index, tensor<4x!w>)

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// expected-error@+1 {{'func.func' op result 0 expects a tensor of rank at least 2}}
func.func private @bad_rank_result() -> tensor<4x!w>

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// expected-error@+1 {{expects a ranked tensor of !moeq.scaled, got 'tensor<*x!moeq.scaled}}
func.func @unranked(%a: tensor<*x!w>) {
  %0 = tensor.cast %a : tensor<*x!w> to tensor<4x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// expected-error@+1 {{expects !moeq.scaled only as the element of a tensor, got '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
func.func @scalar(%a: !w) {
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// expected-error@+1 {{expects !moeq.scaled only as the element of a tensor, got 'tuple<tensor<4x!moeq.scaled}}
func.func @nested(%a: tuple<tensor<4x!w>>) {
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// expected-error@+1 {{expects no encoding of a scaled tensor, got 'tensor<4x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>, "dense">'}}
func.func @encoding(%a: tensor<4x!w, "dense">) {
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

// expected-error@+1 {{expects a static last dimension of packed 4-bit values, got 'tensor<4x?x!moeq.scaled}}
func.func @packed_dynamic(%a: tensor<4x?x!p>) {
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

func.func @packed_dynamic_block(%a: tensor<4x64x!p>) {
  return
// expected-error@+1 {{expects a static last dimension of packed 4-bit values}}
^bb1(%b: tensor<4x?x!p>):
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

func.func @packed_dynamic_result(%n: index) {
  // expected-error@+1 {{'tensor.empty' op expects a static last dimension of packed 4-bit values}}
  %0 = tensor.empty(%n) : tensor<4x?x!p>
  return
}

// -----

// Ops without a form on components.

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @transpose(%a: tensor<4x4x!w>, %o: tensor<4x4x!w>) -> tensor<4x4x!w> {
  // expected-error@+1 {{'linalg.transpose' op expects plain tensors, got 'tensor<4x4x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>': the op has no form on components}}
  %t = "linalg.transpose"(%a, %o) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%in: !w, %out: !w):
      linalg.yield %in : !w
  }) : (tensor<4x4x!w>, tensor<4x4x!w>) -> tensor<4x4x!w>
  return %t : tensor<4x4x!w>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @extract(%a: tensor<4x4x!w>, %i: index) {
  // expected-error@+1 {{'tensor.extract' op expects plain tensors}}
  %t = tensor.extract %a[%i, %i] : tensor<4x4x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @concat(%a: tensor<4x8x!w>) {
  // expected-error@+1 {{'tensor.concat' op expects plain tensors}}
  %0 = tensor.concat dim(1) %a, %a : (tensor<4x8x!w>, tensor<4x8x!w>) -> tensor<4x16x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @poison() {
  // expected-error@+1 {{'ub.poison' op expects plain tensors}}
  %0 = ub.poison : tensor<4x8x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @constant() {
  // expected-error@+1 {{'arith.constant' op expects plain tensors}}
  %0 = arith.constant dense_resource<blob> : tensor<4x4x!w>
  return
}
{-# dialect_resources: { builtin: { blob: "0x040000000102030405060708090a0b0c0d0e0f00" } } #-}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @select_elements(%c: tensor<4x4xi1>, %a: tensor<4x4x!w>) {
  // expected-error@+1 {{'arith.select' op expects plain tensors}}
  %0 = arith.select %c, %a, %a : tensor<4x4xi1>, tensor<4x4x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func private @callee(tensor<4x!w>)
func.func @function_constant() {
  // expected-error@+1 {{'func.constant' op expects plain tensors, got '(tensor<4x!moeq.scaled}}
  %0 = func.constant @callee : (tensor<4x!w>) -> ()
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @region() {
  // expected-error@+1 {{'scf.execute_region' op expects plain tensors}}
  %0 = scf.execute_region -> tensor<4x!w> {
    %1 = tensor.empty() : tensor<4x!w>
    scf.yield %1 : tensor<4x!w>
  }
  return
}

// -----

// Slices.

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @static_offset(%a: tensor<512x256x!w>) {
  // expected-error@+1 {{'tensor.extract_slice' op cuts a scale block along dimension 0 of 'tensor<512x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>' by the extract of 'tensor<128x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>': expects an offset that is a multiple of 128 or a slice inside one block, got an offset 64 and a size 128}}
  %0 = tensor.extract_slice %a[64, 0] [128, 256] [1, 1] : tensor<512x256x!w> to tensor<128x256x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @dynamic_offset(%a: tensor<?x256x!w>, %i: index) {
  // expected-error@+1 {{expects an offset that is a multiple of 128 or a slice inside one block, got an offset that is not known and a size 128}}
  %0 = tensor.extract_slice %a[%i, 0] [128, 256] [1, 1] : tensor<?x256x!w> to tensor<128x256x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @loop_step(%a: tensor<?x256x!w>, %n: index) {
  %c0 = arith.constant 0 : index
  %c192 = arith.constant 192 : index
  scf.for %i = %c0 to %n step %c192 {
    // expected-error@+1 {{got an offset that is a multiple of 192 and a size 192}}
    %0 = tensor.extract_slice %a[%i, 0] [192, 256] [1, 1] : tensor<?x256x!w> to tensor<192x256x!w>
  }
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @insert_tail(%a: tensor<4x64x!a>, %b: tensor<4x256x!a>) {
  // expected-error@+1 {{'tensor.insert_slice' op cuts a scale block along dimension 1 of 'tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>' by the insert of 'tensor<4x64x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>': expects an offset that is a multiple of 128 and a size that is one or reaches the end, got an offset 128 and a size 64}}
  %0 = tensor.insert_slice %a into %b[0, 128] [4, 64] [1, 1] : tensor<4x64x!a> into tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @insert_dynamic(%a: tensor<4x?x!a>, %b: tensor<4x?x!a>, %n: index) {
  // expected-error@+1 {{got an offset 0 and a size that is not known}}
  %0 = tensor.insert_slice %a into %b[0, 0] [4, %n] [1, 1] : tensor<4x?x!a> into tensor<4x?x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @insert_whole_extent(%a: tensor<4x128x!a>, %b: tensor<4x256x!a>) -> tensor<4x256x!a> {
  %0 = scf.forall (%i) in (2) shared_outs(%o = %b) -> tensor<4x256x!a> {
    scf.forall.in_parallel {
      // expected-error@+1 {{'tensor.parallel_insert_slice' op cuts a scale block along dimension 1 of}}
      tensor.parallel_insert_slice %a into %o[0, 128] [4, 128] [1, 1] : tensor<4x128x!a> into tensor<4x256x!a>
    }
  }
  return %0 : tensor<4x256x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @stride(%a: tensor<4x256x!a>) {
  // expected-error@+1 {{'tensor.extract_slice' op expects stride 1 along dimension 1 of 'tensor<4x256x!moeq.scaled}}
  %0 = tensor.extract_slice %a[0, 0] [4, 128] [1, 2] : tensor<4x256x!a> to tensor<4x128x!a>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 1], scale = f32>
!v = !moeq.scaled<f8E4M3FN, block = [128, 1], scale = f32>

func.func @drop_inside(%a: tensor<8x256x64x!w>) {
  // expected-error@+1 {{'tensor.extract_slice' op moves scale blocks between dimensions of 'tensor<8x256x64x!moeq.scaled<f8E4M3FN, block = [128, 1], scale = f32>>' and 'tensor<8x64x!moeq.scaled<f8E4M3FN, block = [128, 1], scale = f32>>': expects dropped dimensions before those with blocks}}
  %0 = tensor.extract_slice %a[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x256x64x!w> to tensor<8x64x!v>
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

func.func @packed_byte(%a: tensor<8x64x!p>) {
  // expected-error@+1 {{cuts a byte of packed values along dimension 1 of}}
  %0 = tensor.extract_slice %a[0, 3] [8, 4] [1, 1] : tensor<8x64x!p> to tensor<8x4x!p>
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

func.func @packed_nibble(%a: tensor<8x64x!p>) {
  // expected-error@+1 {{expects an offset that is a multiple of 2 and a size that is one or reaches the end, got an offset 0 and a size 3}}
  %0 = tensor.extract_slice %a[0, 0] [8, 3] [1, 1] : tensor<8x64x!p> to tensor<8x3x!p>
  return
}

// -----

!s = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>

func.func @laid_out(%a: tensor<512x256x!s>) {
  // expected-error@+1 {{'tensor.extract_slice' op cuts laid-out scales along dimension 0 of 'tensor<512x256x!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>>' by the extract of 'tensor<128x256x!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>>': expects the whole extent, got an offset 128 and a size 128}}
  %0 = tensor.extract_slice %a[128, 0] [128, 256] [1, 1] : tensor<512x256x!s> to tensor<128x256x!s>
  return
}

// -----

!g = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, groups = 4>

func.func @rows_of_groups(%a: tensor<512x256x!g>) {
  // expected-error@+1 {{'tensor.extract_slice' op cuts the rows of groups along dimension 0 of 'tensor<512x256x!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, groups = 4>>' by the extract of 'tensor<128x256x!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, groups = 4>>': expects the whole extent, got an offset 128 and a size 128}}
  %0 = tensor.extract_slice %a[128, 0] [128, 256] [1, 1] : tensor<512x256x!g> to tensor<128x256x!g>
  return
}

// -----

// Reshapes.

!g = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, groups = 4>

func.func @reshape_groups(%a: tensor<64x256x!g>) {
  // expected-error@+1 {{'tensor.expand_shape' op expects rows without groups, got}}
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, 64, 256] : tensor<64x256x!g> into tensor<1x64x256x!g>
  return
}

// -----

!s = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = mn_major>

func.func @reshape_laid_out(%a: tensor<8x64x256x!s>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expects values and scales in row-major layout, got 'tensor<8x64x256x!moeq.scaled}}
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<8x64x256x!s> into tensor<512x256x!s>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @collapse_blocks(%a: tensor<8x256x256x!w>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expects scale blocks only in the last dimension of a group, got 'tensor<8x256x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>' and 'tensor<8x65536x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'}}
  %0 = tensor.collapse_shape %a [[0], [1, 2]] : tensor<8x256x256x!w> into tensor<8x65536x!w>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @collapse_whole_extent(%a: tensor<8x256x!a>) {
  // expected-error@+1 {{expects scale blocks only in the last dimension of a group}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x256x!a> into tensor<2048x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @expand_tail(%a: tensor<384x!a>) {
  // expected-error@+1 {{'tensor.expand_shape' op expects dimension 1 of 'tensor<2x192x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>' to be a multiple of the scale block 128, got 192}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 192] : tensor<384x!a> into tensor<2x192x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @collapse_dynamic(%a: tensor<8x?x!a>) {
  // expected-error@+1 {{to be a multiple of the scale block 128, got one that is not known}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x?x!a> into tensor<?x!a>
  return
}

// -----

!p = !moeq.scaled<i4, block = [33], scale = f32>

func.func @collapse_packed(%a: tensor<8x33x!p>) {
  // expected-error@+1 {{to be a multiple of the packing 2, got 33}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x33x!p> into tensor<264x!p>
  return
}

// -----

// Every error of a module is reported.

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

func.func @several(%a: tensor<8x256x!a>, %i: index) {
  // expected-error@+1 {{'tensor.extract_slice' op cuts a scale block}}
  %0 = tensor.extract_slice %a[0, 64] [8, 128] [1, 1] : tensor<8x256x!a> to tensor<8x128x!a>
  // expected-error@+1 {{'tensor.extract' op expects plain tensors}}
  %1 = tensor.extract %0[%i, %i] : tensor<8x128x!a>
  return
}

// -----

// Upstream's verifier takes the index as 32 bits.
!w = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @collapse_group(%a: tensor<8x256x!w>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expects groups of dimensions 0 to 1, got 4294967296}}
  %0 = tensor.collapse_shape %a [[4294967296, 1]] : tensor<8x256x!w> into tensor<2048x!w>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @dim(%a: tensor<?x?x!w>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error@+1 {{'tensor.dim' op expects a dimension of 0 to 1, got 2}}
  %0 = tensor.dim %a, %c2 : tensor<?x?x!w>
  return %0 : index
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @negative_size(%a: tensor<?x256x!w>) -> tensor<?x128x!w> {
  %n = arith.constant -9223372036854775808 : index
  // expected-error@+1 {{'tensor.extract_slice' op expects a size of at least 0 along dimension 0, got -9223372036854775808}}
  %0 = tensor.extract_slice %a[0, 0] [%n, 128] [1, 1] : tensor<?x256x!w> to tensor<?x128x!w>
  return %0 : tensor<?x128x!w>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @negative_empty() -> tensor<?x128x!w> {
  %n = arith.constant -128 : index
  // expected-error@+1 {{'tensor.empty' op expects a size of at least 0 along dimension 0, got -128}}
  %0 = tensor.empty(%n) : tensor<?x128x!w>
  return %0 : tensor<?x128x!w>
}
