"""A tiny transformer and a byte tokenizer, both made here: nothing is downloaded."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)


def byte_tokenizer() -> PreTrainedTokenizerBase:
    """Return a tokenizer with one token per byte, and one to end and to pad, as models without a token to pad have."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {character: index for index, character in enumerate([*alphabet, "<eos>"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<eos>", eos_token="<eos>", padding_side="left"
    )


def tiny_model(tokenizer: PreTrainedTokenizerBase, seed: int, *, width: int = 64, layers: int = 1) -> PreTrainedModel:
    """Return a small GPT-2 with random weights."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=width,
        n_layer=layers,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return GPT2LMHeadModel(config)


def load(name_or_path: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a causal language model and its tokenizer: a folder, or a name on the hub where it can be reached."""
    tokenizer = AutoTokenizer.from_pretrained(name_or_path, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return AutoModelForCausalLM.from_pretrained(name_or_path, dtype=torch.float32), tokenizer


def save(folder: Path, seed: int = 0) -> None:
    """Save the tiny model and its tokenizer to a folder, as any other model is saved."""
    tokenizer: Any = byte_tokenizer()
    tokenizer.save_pretrained(folder)
    tiny_model(tokenizer, seed).save_pretrained(folder)
