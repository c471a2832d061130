"""transformers' speech models: convolutions over samples or spectra, then attention."""
import transformers
from hydra_export import Export

from .data import reals, shaken, tokens
from .language import ENDS


def whisper():
    """Two inputs of different types: f32 spectra and i64 ids."""
    config = transformers.WhisperConfig(vocab_size=37, num_mel_bins=8, d_model=24, encoder_layers=2, decoder_layers=2,
                                        encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=40,
                                        decoder_ffn_dim=40, max_source_positions=10, max_target_positions=12, dropout=0.0,
                                        use_cache=False, decoder_start_token_id=1, suppress_tokens=None,
                                        begin_suppress_tokens=None, **ENDS)
    model = shaken(transformers.WhisperForConditionalGeneration(config))
    return Export(model, {"input_features": reals(8, 20), "decoder_input_ids": tokens(37, 7, 5)}, output="logits")


def wav2vec2():
    """With dropout."""
    config = transformers.Wav2Vec2Config(vocab_size=20, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                                         intermediate_size=40, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
                                         num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, layerdrop=0.0,
                                         apply_spec_augment=False, hidden_dropout=0.1, attention_dropout=0.1)
    return shaken(transformers.Wav2Vec2ForCTC(config)), {"input_values": reals(200)}


CASES = {"whisper": whisper, "wav2vec2-dropout": wav2vec2}
