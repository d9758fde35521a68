"""Every format that is known by a name, and every parser of vLLM and SGLang, is a dialect or an alias of one."""

from __future__ import annotations

import pytest

from toolfmt.lookup.registry import default_registry

FORMATS = """
    hermes qwen25 granite4 ernie45 longcat trinity granite_20b_fc internlm2 interns1 gigachat3 inkling minimax_m1
    granite3 jamba apriel hunyuan_a13b nemotron_v2 mistral_v3 phi4_mini xlam cohere_command apertus mistral_v11
    mistral_v11_callid deepseek_v3 deepseek_v31 kimi_k2 plamo3 solar_open functionary_v31 functionary_v32 harmony
    llama3_json llama3_json_tag qwen3_coder nemotron3 step3p5 mimo seed_oss minimax_m2 dots muse beam step3 minicpm5
    deepseek_v32 deepseek_v4 deepseek_v41 gigachat35 kimi_k3 glm45 glm47 ling3 spark25 poolside_v1 iquest_q1 hy_v3
    hy_v4 k2_horizon minimax_m3 pythonic llama4_pythonic olmo3 lfm2 gemma4 functiongemma morph_xml yaml_xml cohere_xml
    exaone4
    gigachat3_0 reka_edge bielik smollm3 firefunction_v2 command_r_plus cohere2moe llama3_code llama3_builtin
    k2_horizon_json k2_horizon_typed hy_v3_suffix inkling_text harmony_builtin harmony_freeform cline roo ui_tars
    sijawara react qwen_fncall glm4_0414 claude_legacy gorilla toolace nexus deepseek_r1_distill exaone_moe kexaone2
"""
VLLM = """
    apertus beam cohere_command3 cohere_command4 deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41 dots
    ernie45 functiongemma gemma4 gigachat3 glm45 glm47 granite granite-20b-fc granite4 hermes hunyuan_a13b hy_v3 hy_v4
    inkling internlm jamba k2_horizon kimi_k2 kimi_k3 lfm2 ling3 llama3_json llama4_pythonic longcat mimo minicpm5
    minimax_m2 minimax_m3 mistral muse muse_glimmer musespark1x olmo3 openai phi4_mini_json plamo3 poolside_v1 pythonic
    qwen3_coder qwen3_json qwen3_xml seed_oss step3 step3p5 step5 xlam
    deepseek_r1 granite_thinking_parser holo2 iquest_coder iquest_coder_v2 minicpmv minimax minimax_append_think
    minimax_m2_append_think nemotron_json nemotron_v3 openai_gptoss openpangu_v2 qwen2_5_coder qwen25_coder
    solar_open2
"""
SGLANG = """
    apertus2509 beam cohere_command4 deepseekv3 deepseekv31 deepseekv32 deepseekv4 deepseekv41 dots gemma4 gigachat3
    gigachat35 glm glm45 glm47 gpt-oss hermes hunyuan inkling interns1 iquest_q1 k2_horizon kimi_k2 kimi_k3 lfm2 ling3
    llama3 mimo minicpm5 minimax-m2 minimax-m3 mistral muse nanbeige poolside_v1 pythonic qwen qwen25 qwen3_coder
    spark25 step3 step3p5 trinity
"""
MISSING = frozenset({"harmony_builtin", "harmony_freeform", "inkling_text", "llama3_code"})
"""Parts of other formats, which are read with them and have no name of their own."""
KNOWN = {*FORMATS.split(), *VLLM.split(), *SGLANG.split()}


@pytest.mark.parametrize("name", sorted(KNOWN - MISSING))
def test_a_known_name_is_a_dialect(name: str) -> None:
    assert default_registry().resolve(dialect=name).sources
