#!/usr/bin/env python3
# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an encoder of Hugging Face with open batch and length, and compares it with PyTorch.

usage: encoder.py       needs ingot-compiler[torch] and transformers

The weights are random, so that nothing is downloaded: BertModel.from_pretrained gives trained ones.
"""
import numpy as np
import torch
from transformers import BertConfig, BertModel

import ingot


class Encoder(torch.nn.Module):
    """An encoder with positional arguments and one result, which makes its export simple."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids, attention_mask):
        return self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def main():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=256, attn_implementation="eager")
    module = Encoder(BertModel(config, add_pooling_layer=False)).eval()
    ids = torch.randint(0, 1000, (2, 16))
    mask = torch.ones_like(ids)
    sizes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=512)}
    program = torch.onnx.export(module, (ids, mask), dynamo=True, verbose=False,
                                dynamic_shapes={"input_ids": sizes, "attention_mask": sizes})
    model = ingot.compile(program.model_proto)
    for batch, length in ((1, 7), (3, 40), (2, 128)):
        ids = torch.randint(0, 1000, (batch, length))
        mask = torch.ones_like(ids)
        mask[0, length // 2:] = 0
        with torch.no_grad():
            expected = module(ids, mask)
        result = torch.from_dlpack(model(ids, mask))
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)
        print(f"{batch} × {length}: {tuple(result.shape)}")


if __name__ == "__main__":
    main()
