// RUN: moeq-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{expects types with a signed zero, got 'f8E4M3FNUZ': FNUZ types are not supported}}
func.func private @fnuz(!moeq.scaled<f8E4M3FNUZ, block = [*], scale = f32>)

// -----

// expected-error @below {{expects types with a signed zero, got 'f8E5M2FNUZ': FNUZ types are not supported}}
func.func private @fnuz_e5m2(!moeq.scaled<f8E5M2FNUZ, block = [*], scale = f32>)

// -----

// expected-error @below {{expects types with a signed zero, got 'f8E4M3B11FNUZ': FNUZ types are not supported}}
func.func private @fnuz_scale(!moeq.scaled<f8E4M3FN, block = [*], scale = f8E4M3B11FNUZ>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got 'f16'}}
func.func private @value(!moeq.scaled<f16, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got 'ui8'}}
func.func private @unsigned(!moeq.scaled<ui8, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got 'si4'}}
func.func private @signed(!moeq.scaled<si4, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got 'f6E3M2FN'}}
func.func private @f6(!moeq.scaled<f6E3M2FN, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got 'vector<4xi8>'}}
func.func private @vector(!moeq.scaled<vector<4xi8>, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, i8, i4 or ui4, got '!moeq.scaled<i8, block = [*], scale = f32>'}}
func.func private @nested(!moeq.scaled<!moeq.scaled<i8, block = [*], scale = f32>, block = [*], scale = f32>)

// -----

// expected-error @below {{expects a block of more than one element}}
func.func private @ones(!moeq.scaled<i8, block = [1, 1], scale = f32>)

// -----

// expected-error @below {{expects a block of more than one element}}
func.func private @empty(!moeq.scaled<i8, block = [], scale = f32>)

// -----

// expected-error @below {{expects positive block extents or '*', got 0}}
func.func private @zero_block(!moeq.scaled<i8, block = [0], scale = f32>)

// -----

// expected-error @below {{expects positive block extents or '*', got -128}}
func.func private @negative_block(!moeq.scaled<i8, block = [2, -128], scale = f32>)

// -----

// '*' is written so, not as the number that stands for it.
// expected-error @below {{expects positive block extents or '*', got -9223372036854775808}}
func.func private @dynamic_number(!moeq.scaled<i8, block = [-9223372036854775808], scale = f32>)

// -----

// expected-error @below {{integer value too large}}
func.func private @huge_block(!moeq.scaled<i8, block = [99999999999999999999], scale = f32>)

// -----

// expected-error @below {{expected integer value}}
func.func private @block_float(!moeq.scaled<i8, block = [1.5], scale = f32>)

// -----

// expected-error @below {{expects a scale type of f32, bf16, f16, f8E8M0FNU or f8E4M3FN, got 'f64'}}
func.func private @scale(!moeq.scaled<i8, block = [*], scale = f64>)

// -----

// expected-error @below {{expects zero points only on integer values, got values of 'f8E4M3FN'}}
func.func private @zero_float(!moeq.scaled<f8E4M3FN, block = [*], scale = f32, zero = f32>)

// -----

// expected-error @below {{expects a zero type of i8 or the scale type 'f32', got 'bf16'}}
func.func private @zero_type(!moeq.scaled<i8, block = [*], scale = f32, zero = bf16>)

// -----

// expected-error @below {{expects a zero type that has a zero, got 'f8E8M0FNU'}}
func.func private @zero_e8m0(!moeq.scaled<i8, block = [*], scale = f8E8M0FNU, zero = f8E8M0FNU>)

// -----

// expected-error @below {{expects a layout of row_major, mn_major, padded<128x4> or swizzle_128x4, got 'column_major'}}
func.func private @layout(!moeq.scaled<i8, block = [*], scale = f32, layout = column_major>)

// -----

// expected-error @below {{expects a padding of 128x4}}
func.func private @padding(!moeq.scaled<i8, block = [*], scale = f32, layout = padded<64x4>>)

// -----

// expected-error @below {{expected '<'}}
func.func private @no_padding(!moeq.scaled<i8, block = [*], scale = f32, layout = padded>)

// -----

// expected-error @below {{expects a packing of none or fragments, got 'tiles'}}
func.func private @packing(!moeq.scaled<i4, block = [32], scale = f32, packing = tiles>)

// -----

// expected-error @below {{expects no layout of scales beside a packing, got mn_major}}
func.func private @packing_layout(!moeq.scaled<i4, block = [32], scale = f32, layout = mn_major, packing = fragments>)

// -----

// expected-error @below {{expects no groups of rows beside a packing, got 4}}
func.func private @packing_groups(!moeq.scaled<i4, block = [32], scale = f32, groups = 4, packing = fragments>)

// -----

// expected-error @below {{expects packed weights with a scale for each row, or 32, 64 or 128 elements of it, got a block of [16]}}
func.func private @packing_block(!moeq.scaled<i4, block = [16], scale = f32, packing = fragments>)

// -----

// expected-error @below {{expects packed weights with a scale for each row, or 32, 64 or 128 elements of it, got a block of [128, 128]}}
func.func private @packing_rows(!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32, packing = fragments>)

// -----

// expected-error @below {{duplicate parameter 'scale'}}
func.func private @duplicate(!moeq.scaled<i8, block = [*], scale = f32, scale = f32>)

// -----

// expected-error @below {{duplicate parameter 'block'}}
func.func private @duplicate_block(!moeq.scaled<i8, block = [*], block = [*], scale = f32>)

// -----

// expected-error @below {{expects block, scale, zero, layout, groups or packing, got 'axis'}}
func.func private @unknown(!moeq.scaled<i8, block = [*], scale = f32, axis = 1>)

// -----

// expected-error @below {{missing required parameter 'block'}}
func.func private @missing_block(!moeq.scaled<i8, scale = f32>)

// -----

// expected-error @below {{missing required parameter 'scale'}}
func.func private @missing_scale(!moeq.scaled<i8, block = [*]>)

// -----

// expected-error @below {{expected '<'}}
func.func private @bare(!moeq.scaled)

// -----

// Scaled elements are elements of tensors only.
// expected-error @below {{invalid memref element type}}
func.func private @memref(memref<4x!moeq.scaled<i8, block = [*], scale = f32>>)

// -----

// expected-error @below {{failed to verify 'elementType'}}
func.func private @vector_of_scaled(vector<4x!moeq.scaled<i8, block = [*], scale = f32>>)

// -----

// expected-error @below {{expects positive groups, got 0}}
func.func private @no_groups(!moeq.scaled<i8, block = [32], scale = f32, groups = 0>)

// -----

// expected-error @below {{expects 1 to 2147483647 groups, got 2147483648}}
func.func private @groups(!moeq.scaled<i8, block = [32], scale = f32, groups = 2147483648>)

// -----

// expected-error @below {{expects blocks whose rows divide 128 where there are groups, got 48}}
func.func private @block_of_groups(!moeq.scaled<i8, block = [48, 1], scale = f32, groups = 2>)

// -----

// expected-error @below {{expects blocks whose rows divide 128 where there are groups, got *}}
func.func private @whole_block_of_groups(!moeq.scaled<i8, block = [*, *], scale = f32, groups = 2>)
