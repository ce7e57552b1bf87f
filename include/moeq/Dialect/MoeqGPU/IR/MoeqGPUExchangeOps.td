//===- MoeqGPUExchangeOps.td - Ops on sums in parts --------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CTAs of a cluster add up what each of them has summed of the same tile.
// Included by MoeqGPUOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUEXCHANGEOPS_TD
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUEXCHANGEOPS_TD

def MoeqGPU_ExchangeCreateOp : MoeqGPU_Op<"exchange.create"> {
  let summary = "the memory of an exchange, with its barriers";
  let description = [{
    Of the consumers of `roles`, each with that of the same number in the other CTAs.

    ```mlir
    %x = moeq_gpu.exchange.create : !moeq_gpu.exchange<2x2048xf32, cluster = 2>
    ```
  }];
  let results = (outs MoeqGPU_ExchangeType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MoeqGPU_ExchangeSwapOp : MoeqGPU_Op<"exchange.swap"> {
  let summary = "sends parts of sums to those who add them up, and waits for theirs";
  let description = [{
    The fragments are `pieces` for each part of a consumer's accumulator. In a cluster of n
    CTAs, part i is added up by the CTA with i mod n = `own`, which differs from CTA to CTA:
    own = rank xor a number that all of them have. The other ones send it there. `turn` counts
    the exchanges of a consumer, from 0 on.

    ```mlir
    moeq_gpu.exchange.swap %x[%turn] own(%own) parts(%a, %b : !acc, !acc)
        : !moeq_gpu.exchange<1x2048xf32, cluster = 2>
    ```
  }];
  let arguments = (ins MoeqGPU_ExchangeType:$exchange, I32:$turn, I32:$own,
                       Variadic<MoeqGPU_FragmentType>:$parts,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$pieces);
  let assemblyFormat = [{
    $exchange `[` $turn `]` `own` `(` $own `)` `parts` `(` $parts `:` type($parts) `)`
    (`pieces` $pieces^)? attr-dict `:` type($exchange)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_ExchangeSumOp : MoeqGPU_Op<"exchange.sum", [AllTypesMatch<["pieces", "results"]>]> {
  let summary = "a part with what the other CTAs have of it";
  let description = [{
    Where part `number` is the CTA's own, its pieces plus those of the others. The numbers of CTAs
    0 to n - 1 are added in pairs, the sums of these in pairs, and so on: which is the same
    sum in whichever CTA.

    ```mlir
    %s = moeq_gpu.exchange.sum %x part 1(%b : !acc) : !moeq_gpu.exchange<1x2048xf32, cluster = 2>
    ```
  }];
  let arguments = (ins MoeqGPU_ExchangeType:$exchange,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$number,
                       Variadic<MoeqGPU_FragmentType>:$pieces);
  let results = (outs Variadic<MoeqGPU_FragmentType>:$results);
  let assemblyFormat = [{
    $exchange `part` $number `(` $pieces `:` type($pieces) `)` attr-dict `:` type($exchange)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_ExchangeReleaseOp : MoeqGPU_Op<"exchange.release"> {
  let summary = "lets the other CTAs send again";
  let description = [{
    Once for each `exchange.swap`, after the last `exchange.sum`.
  }];
  let arguments = (ins MoeqGPU_ExchangeType:$exchange);
  let assemblyFormat = "$exchange attr-dict `:` type($exchange)";
}

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUEXCHANGEOPS_TD
