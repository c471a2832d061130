"""transformers' language models."""
import torch
import transformers
from hydra_export import Export

from .data import lengths_mask, shaken, tokens

VOCABULARY = 37
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def gpt2(attention="sdpa", dropout=0.0, **options):
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=16, n_embd=24, n_layer=3, n_head=3, use_cache=False,
                                     resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, **ENDS)
    config._attn_implementation = attention
    return shaken(transformers.GPT2LMHeadModel(config).to(**options)), {"input_ids": tokens(VOCABULARY)}


def gpt2_with_loss():
    model, inputs = gpt2()
    return Export(model, inputs | {"labels": inputs["input_ids"]}, output="loss", loss="mean")


def gpt2_frozen():
    """Only the last block and what follows is trained."""
    model, inputs = gpt2()
    for name, p in model.named_parameters():
        p.requires_grad_(name.startswith(("transformer.h.2", "transformer.ln_f")))
    return model, inputs


def decoder(model_class, config_class, dtype=torch.float32, **options):
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "use_cache": False}
    model = model_class(config_class(**{**sizes, **ENDS, **options})).to(dtype)
    return shaken(model), {"input_ids": tokens(VOCABULARY)}


def llama(**options):
    return decoder(transformers.LlamaForCausalLM, transformers.LlamaConfig, **options)


def llama_masked():
    model, inputs = llama()
    return model, inputs | {"attention_mask": lengths_mask()}


def qwen3():
    return decoder(transformers.Qwen3ForCausalLM, transformers.Qwen3Config, head_dim=16)


def gemma3():
    return decoder(transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig, head_dim=16, query_pre_attn_scalar=24,
                   sliding_window=5, layer_types=["sliding_attention", "full_attention", "sliding_attention"])


def encoder(model_class, config_class, **options):
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3,
             "intermediate_size": 40, "max_position_embeddings": 16, "hidden_dropout_prob": 0.0,
             "attention_probs_dropout_prob": 0.0, "pad_token_id": 0}
    model = shaken(model_class(config_class(**{**sizes, **options})))
    return model, {"input_ids": tokens(VOCABULARY), "attention_mask": lengths_mask()}


def bert():
    model, inputs = encoder(transformers.BertForSequenceClassification, transformers.BertConfig, num_labels=3)
    return model, inputs | {"token_type_ids": (torch.arange(12) >= 5).long().expand(4, 12).contiguous()}


def albert():
    return encoder(transformers.AlbertForMaskedLM, transformers.AlbertConfig, embedding_size=16, num_hidden_layers=4,
                   classifier_dropout_prob=0.0)


def deberta():
    return encoder(transformers.DebertaV2ForMaskedLM, transformers.DebertaV2Config, relative_attention=True,
                   position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
                   position_biased_input=False, num_hidden_layers=2)


def t5(dtype=torch.float32):
    config = transformers.T5Config(vocab_size=VOCABULARY, d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=3,
                                   dropout_rate=0.0, use_cache=False, decoder_start_token_id=0, pad_token_id=0)
    model = shaken(transformers.T5ForConditionalGeneration(config).to(dtype))
    inputs = {"input_ids": tokens(VOCABULARY), "attention_mask": lengths_mask(), "decoder_input_ids": tokens(VOCABULARY, 7, 5)}
    return Export(model, inputs, output="logits")


def bart():
    config = transformers.BartConfig(vocab_size=VOCABULARY, d_model=24, encoder_layers=2, decoder_layers=2, use_cache=False,
                                     encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=40,
                                     decoder_ffn_dim=40, max_position_embeddings=16, dropout=0.0, **ENDS)
    inputs = {"input_ids": tokens(VOCABULARY), "attention_mask": lengths_mask(), "decoder_input_ids": tokens(VOCABULARY, 7, 5)}
    return Export(shaken(transformers.BartForConditionalGeneration(config)), inputs, output="logits")


def mamba():
    config = transformers.MambaConfig(vocab_size=VOCABULARY, hidden_size=16, state_size=4, num_hidden_layers=2,
                                      use_cache=False, **ENDS)
    return shaken(transformers.MambaForCausalLM(config)), {"input_ids": tokens(VOCABULARY, 8)}


CASES = {
    "gpt2": gpt2,
    "gpt2-eager": lambda: gpt2("eager"),
    "gpt2-loss": gpt2_with_loss,
    "gpt2-frozen": gpt2_frozen,
    "gpt2-bf16": lambda: gpt2(dtype=torch.bfloat16),
    "gpt2-dropout": lambda: gpt2(dropout=0.1),
    "gpt2-eager-dropout": lambda: gpt2("eager", dropout=0.1),
    "llama": llama,
    "llama-masked": llama_masked,
    "llama-bf16": lambda: llama(dtype=torch.bfloat16),
    "qwen3": qwen3,
    "gemma3": gemma3,
    "bert": bert,
    "albert": albert,
    "deberta": deberta,
    "t5": t5,
    "t5-bf16": lambda: t5(torch.bfloat16),
    "bart": bart,
    "mamba": mamba,
}
