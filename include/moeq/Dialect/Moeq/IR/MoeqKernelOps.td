//===- MoeqKernelOps.td - What is made for kernels ---------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that prepare what a kernel of another op takes: the work list of a
// routing, the weights in a better order. Included by MoeqOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQKERNELOPS_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQKERNELOPS_TD

def Moeq_PlanOp : Moeq_DpsOp<"plan"> {
  let summary = "offsets to the order, widths and number of a grouped matmul's tiles";
  let description = [{
    The work list of a grouped matmul that takes its rows in tiles of a width
    that each group chooses, up to `max_width`, and of `tile_columns` of its
    `columns` (N). Of `offsets` [E + 1] it makes a table [E + 1, 4]:

    - row 0: the number of tiles, the first whole tile that is split, into how
      many pieces those from there on are split, and the groups that have rows;
    - row 1 + i: first row, end of rows, expert and width of the i-th group, in
      order of falling widths, the lower expert first among equals. A width is a
      multiple of `width_step`, and 0 for a group without rows.

    A group has m = ceildiv(rows, width) row tiles by ceildiv(N, tile_columns);
    whole tile i of it is row tile i mod m of column tile i div m. CTAs take the
    tiles in this order, each when it is free; those that are left when each CTA
    has had the same number are split along their rows, where that ends sooner if
    a tile of width w costs `overhead` + w. `docs/Spec.md` gives the rule, in
    integers: the table is the same on every target.

    ```mlir
    %n = arith.constant 14336 : index
    %p = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%init : tensor<9x4xi32>)
        tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
    ```
  }];
  let arguments = (ins Moeq_I32Shaped:$offsets, Index:$columns, Moeq_I32Shaped:$table,
                       I64Attr:$tile_columns, I64Attr:$max_width, I64Attr:$ctas,
                       DefaultValuedAttr<I64Attr, "8">:$width_step,
                       DefaultValuedAttr<I64Attr, "24">:$overhead);
  let assemblyFormat = [{
    `offsets` `(` $offsets `:` type($offsets) `)` `columns` `(` $columns `)`
    `outs` `(` $table `:` type($table) `)` `tile_columns` `(` $tile_columns `)`
    `max_width` `(` $max_width `)` `ctas` `(` $ctas `)` (`width_step` `(` $width_step^ `)`)?
    (`overhead` `(` $overhead^ `)`)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// The fields of a row of the table.
    static constexpr int64_t kFields = 4;
    /// The widest tile that there is.
    static constexpr int64_t kMaxWidth = 256;
    /// A kernel plans for so many groups, one a thread.
    static constexpr int64_t kMaxGroups = 1024;
  }];
}

def Moeq_PrepackOp : Moeq_DpsOp<"prepack", [AttrSizedOperandSegments]> {
  let summary = "weights in another order";
  let description = [{
    Is done once, when weights are loaded; constants are moved when they are
    canonicalized. Elements only move, and swapping the orders undoes it.

    `from` and `to`: moves the columns of gate and up of a gated activation, the second dimension
    of a weight [E, 2F, K] or bias [E, 2F], between the gate layouts of
    `moeq.activate`: under `interleaved_64` the matmul can apply the activation
    in its epilogue. Scales move along; their blocks must not span columns, but
    for all of them.

    `input` and `outs` differ in `packing`: packs or unpacks the weights [.., N, K],
    by the order of `!moeq.scaled`, beside the other move or without it.

    ```mlir
    %p = moeq.prepack input(%w13 : tensor<8x28672x4096x!a>) outs(%init : tensor<8x28672x4096x!a>)
        from(gate_first) to(interleaved_64) -> tensor<8x28672x4096x!a>
    %q = moeq.prepack input(%w2 : tensor<8x4096x14336x!a>) outs(%init2 : tensor<8x4096x14336x!packed>)
        -> tensor<8x4096x14336x!packed>
    ```
  }];
  let arguments = (ins Variadic<Moeq_Shaped>:$input, Variadic<Moeq_Shaped>:$outs,
                       OptionalAttr<Moeq_GateLayout>:$from, OptionalAttr<Moeq_GateLayout>:$to,
                       OptionalAttr<TypeAttr>:$input_format, OptionalAttr<TypeAttr>:$outs_format);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) (`as` $input_format^)? `)`
    `outs` `(` $outs `:` type($outs) (`as` $outs_format^)? `)`
    (`from` `(` $from^ `)` `to` `(` $to `)`)? attr-dict (`->` type($results)^)?
  }];
  let hasCanonicalizer = 1;
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQKERNELOPS_TD
