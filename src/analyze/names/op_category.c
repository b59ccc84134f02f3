/* See op_category.h. */
#include "analyze/names/op_category.h"

#include <stddef.h>
#include <string.h>

const char *op_category_name(op_category c)
{
	static const char *const names[OP_CATEGORIES] = {
		[OP_OTHER] = "other",
		[OP_GEMM] = "GEMM",
		[OP_GROUPED_GEMM_FWD] = "GroupedGEMM_fwd",
		[OP_GROUPED_GEMM_BWD] = "GroupedGEMM_bwd",
		[OP_CONV_FWD] = "CONV_fwd",
		[OP_CONV_BWD] = "CONV_bwd",
		[OP_SDPA_FWD] = "SDPA_fwd",
		[OP_SDPA_BWD] = "SDPA_bwd",
		[OP_INFERENCE_ATTENTION] = "InferenceAttention",
		[OP_NORM_FWD] = "NORM_fwd",
		[OP_NORM_BWD] = "NORM_bwd",
		[OP_ROPE_FWD] = "RoPE_fwd",
		[OP_ROPE_BWD] = "RoPE_bwd",
		[OP_SSM_FWD] = "SSM_fwd",
		[OP_SSM_BWD] = "SSM_bwd",
		[OP_MOE_FUSED] = "MoE_fused",
		[OP_MOE_AUX] = "MoE_aux",
		[OP_MOE_COMM_FWD] = "MoE_comm_fwd",
		[OP_MOE_COMM_BWD] = "MoE_comm_bwd",
		[OP_CROSS_ENTROPY_FWD] = "CrossEntropy_fwd",
		[OP_CROSS_ENTROPY_BWD] = "CrossEntropy_bwd",
		[OP_ELEMENTWISE] = "elementwise",
		[OP_REDUCE] = "reduce",
		[OP_MULTI_TENSOR_APPLY] = "multi_tensor_apply",
		[OP_TRITON] = "triton",
		[OP_RECORD_PARAM_COMMS] = "record_param_comms",
		[OP_SOFTMAX] = "softmax",
		[OP_POOLING] = "pooling",
		[OP_EMBEDDING] = "embedding",
		[OP_INDEXING] = "indexing",
		[OP_DROPOUT] = "dropout",
		[OP_COPY] = "copy",
	};

	return names[c];
}

/* Words of a list, one after the other: whether the name is one of them. */
static bool is_word(const char *name, size_t len, const char *words)
{
	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		if (n == len && memcmp(at, name, n) == 0)
			return true;
		at += n;
	}
	return false;
}

typedef struct op_names {
	op_category category;
	const char *space; /* "aten::"; NULL: names are whole */
	const char *names;
	bool ours; /* TraceLens does not know them */
} op_names;

static const op_names known[] = {
	{ OP_GEMM, "aten::", "mm addmm bmm baddbmm _scaled_mm", false },
	{ OP_GEMM, NULL,
	  "trtllm::cublas_scaled_mm bitsandbytes::int8_linear_matmul tex_ts::te_gemm_ts vllm::gemm_with_dynamic_quant "
	  "aiter::gemm_a4w4 aiter::_gemm_a4w4_asm primus_turbo::hipblaslt_gemm_fp8 primus_turbo::hipblaslt_gemm_fp4",
	  false },
	{ OP_GEMM, "aten::", "addmv mv dot _int_mm _addmm_activation addbmm _weight_int4pack_mm", true },
	{ OP_GROUPED_GEMM_FWD, NULL, "primus_turbo::grouped_gemm primus_turbo::grouped_gemm_impl", false },
	{ OP_GROUPED_GEMM_BWD, NULL, "primus_turbo::grouped_gemm_variable_k primus_turbo::grouped_gemm_variable_k_impl",
	  false },
	{ OP_GROUPED_GEMM_FWD, "aten::", "_grouped_mm _scaled_grouped_mm", true },
	{ OP_CONV_FWD, "aten::", "convolution miopen_convolution cudnn_convolution", false },
	{ OP_CONV_FWD, NULL, "ConvBias_ ConvBiasReLU_", false },
	{ OP_CONV_FWD, "aten::",
	  "_convolution conv1d conv2d conv3d mkldnn_convolution cudnn_convolution_transpose "
	  "miopen_depthwise_convolution "
	  "miopen_convolution_transpose thnn_conv2d _slow_conv2d_forward _conv_depthwise2d slow_conv3d_forward",
	  true },
	{ OP_CONV_BWD, "aten::", "convolution_backward", false },
	{ OP_CONV_BWD, NULL, "ConvBias_Backward ConvBiasReLU_Backward", false },
	{ OP_CONV_BWD, "aten::", "cudnn_convolution_backward _slow_conv2d_backward", true },
	{ OP_SDPA_FWD, "aten::",
	  "_scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention "
	  "_scaled_dot_product_flash_attention _efficient_attention_forward",
	  false },
	{ OP_SDPA_FWD, NULL,
	  "FlashAttnFunc flash_attn::_flash_attn_forward flash_attn::_flash_attn_varlen_forward flash_attn_3::fwd "
	  "aiter::_flash_attn_forward aiter::wrapper_fmha_v3_fwd aiter::mha_fwd aiter::fmha_v3_fwd EvoformerAttention",
	  false },
	{ OP_SDPA_FWD, "aten::",
	  "_flash_attention_forward scaled_dot_product_attention _scaled_dot_product_attention_math "
	  "_scaled_dot_product_flash_attention_for_cpu _cudnn_attention_forward",
	  true },
	{ OP_SDPA_BWD, "aten::",
	  "_scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention_backward "
	  "_scaled_dot_product_flash_attention_backward _efficient_attention_backward",
	  false },
	{ OP_SDPA_BWD, NULL,
	  "FlashAttnFuncBackward FusedAttnFuncBackward flash_attn::_flash_attn_backward "
	  "flash_attn::_flash_attn_varlen_backward aiter::_flash_attn_backward aiter::wrapper_fmha_v3_bwd "
	  "aiter::mha_bwd",
	  false },
	{ OP_SDPA_BWD, "aten::", "_flash_attention_backward _cudnn_attention_backward", true },
	{ OP_INFERENCE_ATTENTION, NULL, "vllm::unified_attention_with_output _C_cache_ops::reshape_and_cache_flash",
	  false },
	{ OP_INFERENCE_ATTENTION, NULL, "vllm::unified_attention _C_cache_ops::reshape_and_cache", true },
	{ OP_NORM_FWD, "aten::",
	  "batch_norm native_batch_norm miopen_batch_norm cudnn_batch_norm layer_norm native_layer_norm group_norm "
	  "native_group_norm instance_norm _fused_rms_norm",
	  false },
	{ OP_NORM_FWD, NULL, "aiter::_groupnorm_run", false },
	{ OP_NORM_FWD, "aten::", "rms_norm _batch_norm_impl_index _batch_norm_with_update", true },
	{ OP_NORM_FWD, NULL, "_C::rms_norm _C::fused_add_rms_norm", true },
	{ OP_NORM_BWD, "aten::",
	  "batch_norm_backward native_batch_norm_backward miopen_batch_norm_backward cudnn_batch_norm_backward "
	  "layer_norm_backward native_layer_norm_backward group_norm_backward native_group_norm_backward "
	  "instance_norm_backward rms_norm_backward _fused_rms_norm_backward",
	  false },
	{ OP_ROPE_FWD, NULL, "FusedRoPEFunc", false },
	{ OP_ROPE_FWD, NULL, "_C::rotary_embedding", true },
	{ OP_ROPE_BWD, NULL, "FusedRoPEFuncBackward", false },
	{ OP_SSM_FWD, NULL, "DaoAILab::_causal_conv1d_fwd_cpp MambaSplitConv1dScanCombinedFn", false },
	{ OP_SSM_BWD, NULL, "DaoAILab::_causal_conv1d_bwd_cpp MambaSplitConv1dScanCombinedFnBackward", false },
	{ OP_MOE_FUSED, NULL, "vllm::moe_forward vllm::fused_experts", true },
	{ OP_MOE_AUX, NULL,
	  "aiter::moe_sorting_opus_fwd aiter::moe_align_block_size _moe_C::moe_align_block_size aiter::moe_sum "
	  "aiter::topk_softmax aiter::topk_softmax_asm aiter::topk_sigmoid aiter::grouped_topk aiter::moe_fused_gate",
	  false },
	{ OP_MOE_AUX, NULL, "_moe_C::topk_softmax _moe_C::moe_sum", true },
	{ OP_MOE_COMM_FWD, NULL, "MoEDispatch MoECombine TokenPermuteMaskMap", false },
	{ OP_MOE_COMM_BWD, NULL, "MoEDispatchBackward MoECombineBackward TokenPermuteMaskMapBackward", false },
	{ OP_CROSS_ENTROPY_FWD, NULL, "CrossEntropyFunction", false },
	{ OP_CROSS_ENTROPY_FWD, "aten::", "cross_entropy_loss nll_loss_forward nll_loss2d_forward", true },
	{ OP_CROSS_ENTROPY_BWD, NULL, "CrossEntropyFunctionBackward", false },
	{ OP_CROSS_ENTROPY_BWD, "aten::", "nll_loss_backward nll_loss2d_backward", true },
	{ OP_ELEMENTWISE, "aten::",
	  "copy copy_ clamp_min clamp_min_ clamp_max clamp_max_ sigmoid rsqrt silu neg pow div div_ mul mul_ add add_ "
	  "sigmoid_backward threshold_backward upsample_nearest1d upsample_nearest2d upsample_nearest3d",
	  false },
	{ OP_ELEMENTWISE, NULL, "LigerSiLUMulFunction", false },
	{ OP_REDUCE, "aten::", "sum mean max min norm linalg_norm std var logsumexp cumsum cumprod amin amax", false },
	{ OP_SOFTMAX, "aten::",
	  "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data softmax log_softmax", true },
	{ OP_POOLING, "aten::",
	  "max_pool2d_with_indices max_pool2d_with_indices_backward _adaptive_avg_pool2d _adaptive_avg_pool2d_backward "
	  "avg_pool2d avg_pool2d_backward adaptive_max_pool2d max_pool3d_with_indices avg_pool3d _adaptive_avg_pool3d",
	  true },
	{ OP_EMBEDDING, "aten::",
	  "embedding embedding_dense_backward _embedding_bag _embedding_bag_dense_backward embedding_bag", true },
	{ OP_EMBEDDING, NULL,
	  "fbgemm::dense_embedding_codegen_lookup_function fbgemm::split_embedding_codegen_lookup_adagrad_function "
	  "torch::autograd::CppNode<SplitLookupFunction_Dense_Op> "
	  "torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>",
	  true },
	{ OP_INDEXING, "aten::",
	  "index index_select index_add_ index_copy_ _index_put_impl_ index_put_ gather scatter scatter_ scatter_add_ "
	  "nonzero masked_select topk sort argsort take unique_consecutive _unique2 where",
	  true },
	{ OP_DROPOUT, "aten::", "native_dropout native_dropout_backward dropout _fused_dropout", true },
	{ OP_COPY, "aten::", "cat stack _local_scalar_dense _copy_from _copy_from_and_resize", true },
	{ OP_COPY, NULL,
	  "cudaMemcpyAsync cudaMemcpy cudaMemsetAsync cudaMemset hipMemcpyAsync hipMemcpyWithStream hipMemsetAsync",
	  true },
};

op_category op_category_of_name(const char *name, bool tracelens)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const op_names *k = &known[i];
		size_t skip = k->space ? strlen(k->space) : 0;
		if ((k->ours && tracelens) || (skip && strncmp(name, k->space, skip) != 0))
			continue;
		if (len > skip && is_word(name + skip, len - skip, k->names))
			return k->category;
	}
	if (strncmp(name, "triton", 6) == 0)
		return OP_TRITON;
	return strncmp(name, "record_param_comms", 18) == 0 ? OP_RECORD_PARAM_COMMS : OP_OTHER;
}

op_category op_category_of_kernel(const char *kernel)
{
	if (strncmp(kernel, "void at::native", 15) != 0)
		return OP_OTHER;
	if (strstr(kernel, "elementwise"))
		return OP_ELEMENTWISE;
	if (strstr(kernel, "reduce"))
		return OP_REDUCE;
	return strstr(kernel, "multi_tensor_apply") ? OP_MULTI_TENSOR_APPLY : OP_OTHER;
}
