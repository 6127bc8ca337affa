"""Architectures of the transformers package in small configurations, with random weights. Nothing is downloaded."""
from registry import Entry, add

SEQUENCE = {0: "batch", 1: "sequence"}


def tokens(names, first=(1, 32), second=(2, 21), high=500):
    def make(which):
        import torch
        batch, length = (first, second)[which]
        generator = torch.Generator().manual_seed(1 + which)
        values = {}
        for name in names:
            if "mask" in name:
                values[name] = torch.ones(batch, length, dtype=torch.int64)
                values[name][:, length - 3:] = 0
            elif "type" in name:
                values[name] = torch.randint(0, 2, (batch, length), generator=generator)
            else:
                values[name] = torch.randint(5, high, (batch, length), generator=generator)
        return values
    return make


def drawn(shapes):
    """Makes random inputs. Each input has two shapes."""
    def make(which):
        import torch
        generator = torch.Generator().manual_seed(1 + which)
        return {name: torch.randn(*pair[which], generator=generator) for name, pair in shapes.items()}
    return make


def built(config, model, pick, attention="eager", **sizes):
    """Wraps `model(config(**sizes))`, so that inputs are passed by name. `pick` selects the output tensors."""
    def build():
        import torch
        import transformers

        class Named(torch.nn.Module):
            def __init__(self, inner, names):
                super().__init__()
                self.inner, self.names = inner, names

            def forward(self, *inputs):
                return pick(self.inner(**dict(zip(self.names, inputs)), **self.extra))
        torch.manual_seed(0)
        settings = getattr(transformers, config)(**sizes)
        settings._attn_implementation = attention
        settings.return_dict = True
        inner = getattr(transformers, model)(settings).eval()
        generator = torch.Generator().manual_seed(4)
        with torch.no_grad():
            for key, value in inner.named_parameters():
                # Replaces initial embeddings and biases, which are all equal and would hide errors.
                if value.dim() == 1:
                    value.add_(torch.randn(value.shape, generator=generator) * 0.05)
        module = Named(inner, [])
        module.extra = {}
        if getattr(settings, "use_cache", None) is not None and settings.use_cache:
            module.extra = {"use_cache": False}
        return module
    return build


def model(name, config, cls, inputs, open, pick=lambda r: r.last_hidden_state, kind="text", **sizes):
    make = built(config, cls, pick, **sizes)

    def build():
        module = make()
        module.names = list(inputs(0))
        return module
    add(Entry(name, "transformers", build, inputs, open, kind=kind))


def image(*args, **options):
    model(*args, kind="vision", **options)


def audio(*args, **options):
    model(*args, kind="speech", **options)


SMALL = dict(hidden_size=256, num_hidden_layers=3, num_attention_heads=4, intermediate_size=1024, vocab_size=1000)
MASKED = tokens(["input_ids", "attention_mask"], (1, 128), (2, 77))
MASKED_OPEN = {"input_ids": SEQUENCE, "attention_mask": SEQUENCE}
TYPED = tokens(["input_ids", "attention_mask", "token_type_ids"], (1, 64), (2, 50))
TYPED_OPEN = {name: SEQUENCE for name in ("input_ids", "attention_mask", "token_type_ids")}

model("bert", "BertConfig", "BertModel", TYPED, TYPED_OPEN, **SMALL)
model("distilbert", "DistilBertConfig", "DistilBertModel", MASKED, MASKED_OPEN, dim=256, n_layers=3, n_heads=4,
      hidden_dim=1024, vocab_size=1000)
model("roberta", "RobertaConfig", "RobertaModel", MASKED, MASKED_OPEN, max_position_embeddings=260, **SMALL)
model("albert", "AlbertConfig", "AlbertModel", TYPED, TYPED_OPEN, embedding_size=128, **SMALL)
model("electra", "ElectraConfig", "ElectraForTokenClassification", MASKED, MASKED_OPEN, pick=lambda r: r.logits,
      embedding_size=128, **SMALL)
model("mpnet", "MPNetConfig", "MPNetModel", MASKED, MASKED_OPEN, **SMALL)
model("deberta_v2", "DebertaV2Config", "DebertaV2Model", MASKED, MASKED_OPEN, relative_attention=True,
      pos_att_type=["p2c", "c2p"], position_buckets=32, norm_rel_ebd="layer_norm", share_att_key=True, **SMALL)
model("mobilebert", "MobileBertConfig", "MobileBertModel", MASKED, MASKED_OPEN, hidden_size=256, num_hidden_layers=3,
      vocab_size=1000, intra_bottleneck_size=128, embedding_size=64, intermediate_size=256)
model("gpt2", "GPT2Config", "GPT2LMHeadModel", MASKED, MASKED_OPEN, pick=lambda r: r.logits, n_embd=256, n_layer=3,
      n_head=4, vocab_size=1000, n_positions=256)
model("opt", "OPTConfig", "OPTForCausalLM", MASKED, MASKED_OPEN, pick=lambda r: r.logits, hidden_size=256,
      num_hidden_layers=2, num_attention_heads=4, ffn_dim=512, vocab_size=1000, max_position_embeddings=256, word_embed_proj_dim=256)
LLAMA = dict(hidden_size=256, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=2, intermediate_size=688,
             vocab_size=1000, max_position_embeddings=256)
model("llama", "LlamaConfig", "LlamaForCausalLM", MASKED, MASKED_OPEN, pick=lambda r: r.logits, **LLAMA)
model("qwen2", "Qwen2Config", "Qwen2ForCausalLM", MASKED, MASKED_OPEN, pick=lambda r: r.logits, attention="sdpa", **LLAMA)
model("gpt_neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", MASKED, MASKED_OPEN, pick=lambda r: r.logits,
      **{**SMALL, "num_hidden_layers": 2, "max_position_embeddings": 256})
T5 = dict(d_model=256, d_kv=64, num_layers=2, num_heads=4, d_ff=512, vocab_size=1000, decoder_start_token_id=0)
model("t5_encoder", "T5Config", "T5EncoderModel", MASKED, MASKED_OPEN, **T5)
model("t5", "T5Config", "T5ForConditionalGeneration", tokens(["input_ids", "decoder_input_ids"], (1, 48), (2, 33)),
      {"input_ids": SEQUENCE, "decoder_input_ids": SEQUENCE}, pick=lambda r: r.logits, **T5)
model("bart", "BartConfig", "BartModel", tokens(["input_ids", "decoder_input_ids"], (1, 48), (2, 33)),
      {"input_ids": SEQUENCE, "decoder_input_ids": SEQUENCE}, d_model=256, encoder_layers=2, decoder_layers=2,
      encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=512, decoder_ffn_dim=512, vocab_size=1000,
      max_position_embeddings=256)

# Uses PyTorch's scaled_dot_product_attention, the default of transformers. Exporters write it as several ops.
model("bert_sdpa", "BertConfig", "BertModel", TYPED, TYPED_OPEN, attention="sdpa", **SMALL)
model("gpt2_sdpa", "GPT2Config", "GPT2LMHeadModel", MASKED, MASKED_OPEN, pick=lambda r: r.logits, attention="sdpa",
      n_embd=256, n_layer=3, n_head=4, vocab_size=1000, n_positions=256)
model("llama_sdpa", "LlamaConfig", "LlamaForCausalLM", MASKED, MASKED_OPEN, pick=lambda r: r.logits, attention="sdpa", **LLAMA)
model("t5_encoder_sdpa", "T5Config", "T5EncoderModel", MASKED, MASKED_OPEN, attention="sdpa", **T5)


def cached_inputs(which):
    import torch
    batch, past = ((1, 63), (2, 40))[which]
    generator = torch.Generator().manual_seed(which)
    values = {"input_ids": torch.randint(0, 1000, (batch, 1), generator=generator),
              "attention_mask": torch.ones(batch, past + 1, dtype=torch.int64)}
    for layer in range(2):
        for part in ("key", "value"):
            values[f"past_{part}_{layer}"] = torch.randn(batch, 4, past, 64, generator=generator)
    return values


def cached():
    """A step of GPT-2, with cached keys and values of earlier steps."""
    import torch
    import transformers

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            config = transformers.GPT2Config(n_embd=256, n_layer=2, n_head=4, vocab_size=1000, n_positions=256)
            config._attn_implementation = "eager"
            self.inner = transformers.GPT2LMHeadModel(config).eval()

        def forward(self, input_ids, attention_mask, *past):
            cache = transformers.DynamicCache()
            for layer in range(len(past) // 2):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            result = self.inner(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
            present = []
            for layer in result.past_key_values.layers:
                present += [layer.keys, layer.values]
            return (result.logits, *present)
    torch.manual_seed(0)
    return Step().eval()


add(Entry("gpt2_cache", "transformers", cached, cached_inputs,
          {"input_ids": {0: "batch"}, "attention_mask": {0: "batch", 1: "total"},
           **{f"past_{part}_{layer}": {0: "batch", 2: "past"} for layer in range(2) for part in ("key", "value")}}))

# Image models.
BATCH, SIZES = {0: "batch"}, {0: "batch", 2: "height", 3: "width"}


def pixels(first, second):
    return drawn({"pixel_values": (first, second)})


VISION = dict(hidden_size=192, num_hidden_layers=3, num_attention_heads=3, intermediate_size=768)
IMAGE = pixels((1, 3, 224, 224), (2, 3, 224, 224))
image("vit", "ViTConfig", "ViTModel", IMAGE, {"pixel_values": BATCH}, **VISION)
image("deit", "DeiTConfig", "DeiTModel", IMAGE, {"pixel_values": BATCH}, attention="sdpa", **VISION)
image("beit", "BeitConfig", "BeitModel", IMAGE, {"pixel_values": BATCH}, use_relative_position_bias=True, **VISION)
image("dinov2", "Dinov2Config", "Dinov2Model", IMAGE, {"pixel_values": BATCH}, hidden_size=192, num_hidden_layers=3,
      num_attention_heads=3, image_size=224, patch_size=14)
image("swin", "SwinConfig", "SwinModel", IMAGE, {"pixel_values": BATCH}, embed_dim=48, depths=[2, 2, 2], num_heads=[3, 6, 12])
image("convnextv2", "ConvNextV2Config", "ConvNextV2Model", pixels((1, 3, 224, 224), (2, 3, 192, 160)), {"pixel_values": SIZES},
      hidden_sizes=[40, 80, 160, 320], depths=[2, 2, 2, 2])
image("segformer", "SegformerConfig", "SegformerForSemanticSegmentation", pixels((1, 3, 256, 256), (2, 3, 192, 224)),
      {"pixel_values": SIZES}, pick=lambda r: r.logits)
image("mobilevit", "MobileViTConfig", "MobileViTModel", pixels((1, 3, 256, 256), (2, 3, 256, 256)), {"pixel_values": BATCH})
image("levit", "LevitConfig", "LevitModel", IMAGE, {"pixel_values": BATCH})
image("poolformer", "PoolFormerConfig", "PoolFormerModel", pixels((1, 3, 224, 224), (2, 3, 192, 160)), {"pixel_values": SIZES},
      hidden_sizes=[32, 64, 160, 256])
image("detr", "DetrConfig", "DetrForObjectDetection", pixels((1, 3, 224, 256), (1, 3, 192, 288)),
      {"pixel_values": {2: "height", 3: "width"}}, pick=lambda r: (r.logits, r.pred_boxes), use_timm_backbone=False,
      use_pretrained_backbone=False, d_model=128, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=256,
      decoder_ffn_dim=256, encoder_attention_heads=4, decoder_attention_heads=4, num_queries=30, num_labels=20)
image("yolos", "YolosConfig", "YolosForObjectDetection", pixels((1, 3, 192, 256), (2, 3, 192, 256)), {"pixel_values": BATCH},
      pick=lambda r: (r.logits, r.pred_boxes), image_size=[192, 256], num_detection_tokens=20, **VISION)
image("dpt", "DPTConfig", "DPTForDepthEstimation", pixels((1, 3, 224, 224), (2, 3, 224, 224)), {"pixel_values": BATCH},
      pick=lambda r: r.predicted_depth, image_size=224, hidden_size=192, num_hidden_layers=4, num_attention_heads=3,
      intermediate_size=768, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[24, 48, 96, 96], fusion_hidden_size=64,
      is_hybrid=False)
TEXT = dict(hidden_size=256, num_hidden_layers=3, num_attention_heads=4, intermediate_size=1024, vocab_size=1000,
            max_position_embeddings=77, eos_token_id=999)
model("clip_text", "CLIPTextConfig", "CLIPTextModel", tokens(["input_ids"], (1, 77), (2, 40)), {"input_ids": SEQUENCE}, **TEXT)
image("clip_vision", "CLIPVisionConfig", "CLIPVisionModel", IMAGE, {"pixel_values": BATCH}, pick=lambda r: r.pooler_output,
      patch_size=16, **VISION)

# Audio models.
audio("whisper_encoder", "WhisperConfig", "WhisperModel", drawn({"input_features": ((1, 80, 600), (2, 80, 600))}),
      {"input_features": BATCH}, d_model=256, encoder_layers=3, encoder_attention_heads=4, encoder_ffn_dim=1024,
      decoder_layers=1, decoder_attention_heads=4, vocab_size=1000, max_source_positions=300, pad_token_id=0)
WAV = dict(hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512, conv_dim=(64,) * 7,
           num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=8)
WAVES, WAVES_OPEN = drawn({"input_values": ((1, 16000), (2, 12345))}), {"input_values": {0: "batch", 1: "samples"}}
audio("wav2vec2", "Wav2Vec2Config", "Wav2Vec2Model", WAVES, WAVES_OPEN, **WAV)
audio("hubert", "HubertConfig", "HubertModel", WAVES, WAVES_OPEN, **WAV)
audio("ast", "ASTConfig", "ASTModel", drawn({"input_values": ((1, 256, 128), (2, 256, 128))}), {"input_values": BATCH},
      max_length=256, **VISION)


def whisper():
    import registry
    encoder = registry.ENTRIES["whisper_encoder"]
    make = encoder.build

    def build():
        module = make()
        module.inner = module.inner.get_encoder()
        return module
    encoder.build = build


whisper()
