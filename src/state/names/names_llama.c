/* The family Llama (Touvron et al. 2023), as in transformers' LlamaForCausalLM: rope, rmsnorm,
 * swiglu and no biases. Its files have separate matrices for queries, keys and values, and for the
 * two halves of the swiglu. Our model has one matrix for each of these groups. */
#include <stdio.h>

#include "state/names/name_family.h"

#define L "model.layers.*."

static const struct name_rule rules[] = {
    {NAME_BEFORE, 0, "embed.weight", ROWS_ALL, false, "model.embed_tokens.weight"},
    {NAME_BLOCK, 0, "rmsnorm.weight", ROWS_ALL, false, L "input_layernorm.weight"},
    {NAME_BLOCK, 1, "attention.qkv.weight", ROWS_QUERIES, false, L "self_attn.q_proj.weight"},
    {NAME_BLOCK, 1, "attention.qkv.weight", ROWS_KEYS, false, L "self_attn.k_proj.weight"},
    {NAME_BLOCK, 1, "attention.qkv.weight", ROWS_VALUES, false, L "self_attn.v_proj.weight"},
    {NAME_BLOCK, 1, "attention.out.weight", ROWS_ALL, false, L "self_attn.o_proj.weight"},
    {NAME_BLOCK, 2, "rmsnorm.weight", ROWS_ALL, false, L "post_attention_layernorm.weight"},
    {NAME_BLOCK, 3, "dense.weight", ROWS_FIRST_HALF, false, L "mlp.gate_proj.weight"},
    {NAME_BLOCK, 3, "dense.weight", ROWS_SECOND_HALF, false, L "mlp.up_proj.weight"},
    {NAME_BLOCK, 5, "dense.weight", ROWS_ALL, false, L "mlp.down_proj.weight"},
    {NAME_BEHIND, 0, "rmsnorm.weight", ROWS_ALL, false, "model.norm.weight"},
    {NAME_BEHIND, 1, "logits.weight", ROWS_ALL, false, "lm_head.weight"},
    {NAME_BEHIND, 1, "dense.weight", ROWS_ALL, false, "lm_head.weight"},
};

/* Tensors that a model may lack: the frequencies of rope in files of older versions, and a copy of
 * the embedding table. */
static const char *const spare[] = {".rotary_emb.inv_freq", "lm_head.weight", NULL};

static void line(const struct transformer *of, char text[static MODEL_LINE_MAX])
{
    char shared[16] = "";
    if (of->kv_heads != of->heads)
        (void)snprintf(shared, sizeof shared, " kv %d", of->kv_heads);
    const int used =
        snprintf(text, MODEL_LINE_MAX,
                 "embed %d %d, %d * (residual(rmsnorm, attention %d%s rope plain), "
                 "residual(rmsnorm, dense %d plain, swiglu, dense %d plain)), rmsnorm, ",
                 of->tokens, of->width, of->blocks, of->heads, shared, 2 * of->inner, of->width);
    name_parts_spell_head(of, text, used);
}

/* Checks the settings of rope (rotary position embedding). Since transformers 5 they are in the
 * object rope_parameters. Older files have separate keys and an object rope_scaling. */
static void read_rope(struct config_reader *reader)
{
    const json_t *nested = json_object_get(reader->config, "rope_parameters");
    const json_t *scaling = json_object_get(reader->config, "rope_scaling");
    const json_t *const places[] = {reader->config, nested, scaling};
    for (int i = 0; i < 3; i++) {
        config_reader_expect_real(reader, places[i], "rope_theta", ROPE_BASE, ROPE_BASE);
        config_reader_expect_real(reader, places[i], "partial_rotary_factor", 1, 1);
        config_reader_expect_word(reader, places[i], "rope_type", "default", "default");
        config_reader_expect_word(reader, places[i], "type", "default", "default");
    }
}

static void read(struct config_reader *reader, struct transformer *of)
{
    of->tokens = config_reader_number(reader, "vocab_size", CONFIG_REQUIRED);
    of->width = config_reader_number(reader, "hidden_size", CONFIG_REQUIRED);
    of->positions = config_reader_number(reader, "max_position_embeddings", 2048);
    of->blocks = config_reader_number(reader, "num_hidden_layers", CONFIG_REQUIRED);
    of->heads = config_reader_number(reader, "num_attention_heads", CONFIG_REQUIRED);
    of->kv_heads = config_reader_number(reader, "num_key_value_heads", of->heads);
    of->inner = config_reader_number(reader, "intermediate_size", CONFIG_REQUIRED);
    of->head = config_reader_flag(reader, "tie_word_embeddings", false) ? HEAD_TIED : HEAD_DENSE;
    if (reader->error == OK) {
        const double size = (double)of->width / of->heads;
        config_reader_expect_real(reader, reader->config, "head_dim", size, size);
    }
    config_reader_expect_word(reader, reader->config, "hidden_act", "silu", "swish");
    config_reader_expect_real(reader, reader->config, "rms_norm_eps", 1e-5, 1e-6);
    config_reader_expect_flag(reader, "attention_bias", false);
    config_reader_expect_flag(reader, "mlp_bias", false);
    read_rope(reader);
}

static json_t *config(const struct transformer *of)
{
    return json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:f, s:f, s:b, s:b, s:b, "
        "s:n, s:n, s:s}",
        "architectures", "LlamaForCausalLM", "model_type", "llama", "vocab_size", of->tokens,
        "hidden_size", of->width, "max_position_embeddings", of->positions, "num_hidden_layers",
        of->blocks, "num_attention_heads", of->heads, "num_key_value_heads", of->kv_heads,
        "intermediate_size", of->inner, "hidden_act", "silu", "rms_norm_eps", 1e-5, "rope_theta",
        (double)ROPE_BASE, "attention_bias", 0, "mlp_bias", 0, "tie_word_embeddings",
        of->head == HEAD_TIED, "bos_token_id", "eos_token_id", "torch_dtype", "float32");
}

const struct name_family names_llama = {
    .model_type = "llama",
    .style = {.prefix = "model.", .spare = spare},
    .rule = rules,
    .rules = sizeof rules / sizeof rules[0],
    .first = 1,
    .layers = 6,
    .line = line,
    .read = read,
    .config = config,
};
