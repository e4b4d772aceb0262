/* The family GPT-2 (Radford et al. 2019), as in transformers' GPT2LMHeadModel: learned
 * positions, a norm before each half of a block, gelu approximated by tanh. Its Conv1D stores
 * weights as [in, out]. */
#include <stdio.h>

#include "state/names/name_family.h"

#define H "transformer.h.*."

static const struct name_rule rules[] = {
    {NAME_BEFORE, 0, "embed.weight", ROWS_ALL, false, "transformer.wte.weight"},
    {NAME_BEFORE, 1, "position.weight", ROWS_ALL, false, "transformer.wpe.weight"},
    {NAME_BLOCK, 0, "norm.weight", ROWS_ALL, false, H "ln_1.weight"},
    {NAME_BLOCK, 0, "norm.bias", ROWS_ALL, false, H "ln_1.bias"},
    {NAME_BLOCK, 1, "attention.qkv.weight", ROWS_ALL, true, H "attn.c_attn.weight"},
    {NAME_BLOCK, 1, "attention.qkv.bias", ROWS_ALL, false, H "attn.c_attn.bias"},
    {NAME_BLOCK, 1, "attention.out.weight", ROWS_ALL, true, H "attn.c_proj.weight"},
    {NAME_BLOCK, 1, "attention.out.bias", ROWS_ALL, false, H "attn.c_proj.bias"},
    {NAME_BLOCK, 2, "norm.weight", ROWS_ALL, false, H "ln_2.weight"},
    {NAME_BLOCK, 2, "norm.bias", ROWS_ALL, false, H "ln_2.bias"},
    {NAME_BLOCK, 3, "dense.weight", ROWS_ALL, true, H "mlp.c_fc.weight"},
    {NAME_BLOCK, 3, "dense.bias", ROWS_ALL, false, H "mlp.c_fc.bias"},
    {NAME_BLOCK, 5, "dense.weight", ROWS_ALL, true, H "mlp.c_proj.weight"},
    {NAME_BLOCK, 5, "dense.bias", ROWS_ALL, false, H "mlp.c_proj.bias"},
    {NAME_BEHIND, 0, "norm.weight", ROWS_ALL, false, "transformer.ln_f.weight"},
    {NAME_BEHIND, 0, "norm.bias", ROWS_ALL, false, "transformer.ln_f.bias"},
    {NAME_BEHIND, 1, "logits.weight", ROWS_ALL, false, "lm_head.weight"},
    {NAME_BEHIND, 1, "dense.weight", ROWS_ALL, false, "lm_head.weight"},
};

/* Tensors that a model may lack: the causal mask in files of older versions, and a copy of the
 * embedding table. */
static const char *const spare[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight", NULL};

static void line(const struct transformer *of, char text[static MODEL_LINE_MAX])
{
    const int used =
        snprintf(text, MODEL_LINE_MAX,
                 "embed %d %d, position %d, %d * (residual(norm, attention %d), residual(norm, "
                 "dense %d, gelu, dense %d)), norm, ",
                 of->tokens, of->width, of->positions, of->blocks, of->heads, of->inner, of->width);
    name_parts_spell_head(of, text, used);
}

static void read(struct config_reader *reader, struct transformer *of)
{
    of->tokens = config_reader_number(reader, "vocab_size", 50257);
    of->width = config_reader_number(reader, "n_embd", 768);
    of->positions = config_reader_number(reader, "n_positions", 1024);
    of->blocks = config_reader_number(reader, "n_layer", 12);
    of->heads = of->kv_heads = config_reader_number(reader, "n_head", 12);
    of->inner = config_reader_number(reader, "n_inner", 4 * of->width);
    of->head = config_reader_flag(reader, "tie_word_embeddings", true) ? HEAD_TIED : HEAD_DENSE;
    config_reader_expect_word(reader, reader->config, "activation_function", "gelu_new",
                              "gelu_pytorch_tanh");
    config_reader_expect_real(reader, reader->config, "layer_norm_epsilon", 1e-5, 1e-5);
    config_reader_expect_flag(reader, "scale_attn_weights", true);
    config_reader_expect_flag(reader, "scale_attn_by_inverse_layer_idx", false);
    config_reader_expect_flag(reader, "add_cross_attention", false);
}

static json_t *config(const struct transformer *of)
{
    return json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:b, s:n, "
        "s:n, s:s}",
        "architectures", "GPT2LMHeadModel", "model_type", "gpt2", "vocab_size", of->tokens,
        "n_embd", of->width, "n_positions", of->positions, "n_layer", of->blocks, "n_head",
        of->heads, "n_inner", of->inner, "activation_function", "gelu_new", "layer_norm_epsilon",
        1e-5, "attn_pdrop", 0.0, "embd_pdrop", 0.0, "resid_pdrop", 0.0, "tie_word_embeddings",
        of->head == HEAD_TIED, "bos_token_id", "eos_token_id", "torch_dtype", "float32");
}

const struct name_family names_gpt2 = {
    .model_type = "gpt2",
    .style = {.prefix = "transformer.", .spare = spare},
    .rule = rules,
    .rules = sizeof rules / sizeof rules[0],
    .first = 2,
    .layers = 6,
    .line = line,
    .read = read,
    .config = config,
};
