"""The provider table: which dialect each provider, and each model, reads and writes best.

Data, and the one rule by which a model id is read. A row says what dialect a
manifest for that provider is written in and what its answers are parsed as.
`OPEN_MODELS` are weights that anybody can serve, `API_MODELS` are ids that
only their maker's API (and its resellers) answers to. In both, the first
pattern that matches decides: put the special before the general.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias

from toolfmt.errors import close_names

ModelPattern: TypeAlias = tuple[str, str]
"""A regular expression and a dialect's name; how the expression is read: `match_model`."""

DEFAULT_DIALECT = "default-json"
"""For a provider that is not in the table, or none at all."""
XML_DIALECT = "xml-items"
"""What `use_xml=True` means."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Somebody's API: the dialect its models are prompted in, and the exceptions by model.

    `api` names the transcript format that the API itself speaks, None if it has none.
    """

    name: str
    summary: str
    dialect: str
    _: KW_ONLY
    aliases: tuple[str, ...] = ()
    api: str | None = None
    models: tuple[ModelPattern, ...] = ()


OPEN_MODELS: tuple[ModelPattern, ...] = (
    (r"deepseek-r1.*qwen-?3", "qwen25"),
    (r"deepseek-v4\.1", "deepseek-v41"),
    (r"deepseek-v4", "deepseek-v4"),
    (r"deepseek-v3\.2", "deepseek-v32"),
    (r"deepseek-v3\.1", "deepseek-v31"),
    (r"deepseek-(?:v3|r1)(?![.\d])|deepseek\.r1-v1", "deepseek-v3"),
    (r"qwen-?3-?coder", "qwen3-coder"),
    (r"qwen-?3\.[5-9]", "qwen35"),
    (r"qwen-?(?:2|3)(?!\d)|qwq(?=[-:]\d|:|$)", "qwen25"),
    (r"qwen-?1\.5", "qwen-fncall"),
    (r"nemotron-?3", "nemotron3"),
    (r"nemotron-nano-(?:\d+b-)?v2|llama-3\.\d-nemotron-(?:nano|super|ultra)", "nemotron-v2"),
    (r"glm-?(?:4\.7|5)", "glm47"),
    (r"glm-?4\.[56]", "glm45"),
    (r"glm-?(?:4|z1)-\d+b|chatglm-?4", "glm4-0414"),
    (r"kimi-k3", "kimi-k3"),
    (r"kimi-k2", "kimi-k2"),
    (r"llama-?v?4(?=[-:]|$)", "llama4-pythonic"),
    (r"llama-?v?3(?:\.\d)?(?=[-:]|$)", "llama3-json"),
    (r"mistral-small-?3\.2|devstral-small-2507", "mistral-v11-callid"),
    (r"(?:magistral|ministral-3|devstral|mistral-(?:medium|large)-3)(?=[-:])(?!.*-latest)", "mistral-v11"),
    (r"mi[sx]tral-(?:nemo|\d+x?\d*b|(?:large|small)(?:-instruct|-?3\.1|[-:]\d+b))", "mistral-v3"),
    (r"mi[sx]tral(?=:(?:\d+x?\d*b|instruct|latest))", "mistral-v3"),
    (r"minimax-m3", "minimax-m3"),
    (r"minimax-m2", "minimax-m2"),
    (r"minimax-(?:m1|text-01)", "minimax-m1"),
    (r"granite-20b-function", "granite-20b-fc"),
    (r"granite-?4\.2", "qwen3-coder"),
    (r"granite-?4", "granite4"),
    (r"granite-?3", "granite3"),
    (r"hermes-?(?:2|3|4)", "hermes"),
    (r"ernie-?(?:4\.5|5)", "ernie45"),
    (r"longcat", "longcat"),
    (r"trinity-", "trinity"),
    (r"exaone-?4", "exaone4"),
    (r"k-exaone", "qwen3-coder"),
    (r"internlm-?2", "internlm2"),
    (r"intern-?s1", "interns1"),
    (r"gigachat-?3\.5", "gigachat35"),
    (r"gigachat-?3", "gigachat3"),
    (r"jamba", "jamba"),
    (r"apriel", "apriel"),
    (r"hunyuan-a13b", "hunyuan-a13b"),
    (r"hy-?4", "hy-v4"),
    (r"hy-?3", "hy-v3"),
    (r"phi-?4-(?:mini|multimodal)", "phi4-mini"),
    (r"firefunction", "phi4-mini"),
    (r"(?:llama-)?xlam-2", "xlam"),
    (r"c4ai-command-(?:r7b|a)", "cohere-command"),
    (r"c4ai-command-r(?![a-z0-9])", "command-r-plus"),
    (r"bielik", "bielik"),
    (r"reka-edge", "reka-edge"),
    (r"smollm3", "hermes"),
    (r"apertus", "apertus"),
    (r"plamo-3", "plamo3"),
    (r"solar-open", "solar-open"),
    (r"functionary.*v3\.1", "functionary-v31"),
    (r"seed-oss", "seed-oss"),
    (r"mimo-", "mimo"),
    (r"step-?3\.5", "step3p5"),
    (r"step-?3(?![.\d])", "step3"),
    (r"minicpm-?5", "minicpm5"),
    (r"ling-3", "ling3"),
    (r"spark-?2\.5", "spark25"),
    (r"laguna", "poolside-v1"),
    (r"iquest", "iquest-q1"),
    (r"k2-(?:horizon|v3)", "k2-horizon"),
    (r"dots\.", "dots"),
    (r"gpt-?oss", "harmony"),
    (r"muse-", "muse"),
    (r"functionary.*v3\.2", "functionary-v32"),
    (r"inkling", "inkling"),
    (r"functiongemma", "functiongemma"),
    (r"gemma-?4", "gemma4"),
    (r"olmo-?3", "olmo3"),
    (r"lfm-?2", "lfm2"),
    (r"toolace|gorilla-openfunctions", "pythonic"),
    (r"ui-tars", "ui-tars"),
    (r"nexusraven", "nexus"),
)

API_MODELS: tuple[ModelPattern, ...] = (
    # gpt-oss is open weights with a format of its own, so the digit is required.
    (r"(?:chat|openai-)?gpt-?(?:3\.5|35|[4-9])", "openai-json"),
    (r"gpt-(?:audio|chat|live|realtime)|codex-mini|computer-use-preview", "openai-json"),
    (r"o[1-9](?![a-z0-9.])", "openai-json"),
    (r"claude(?![a-z])", "xml-items"),
    (r"gemini-", "gemini-json"),
    (r"grok-", "openai-json"),
    # The weights on model hubs have more words (`-24B-Instruct-2506`): not these.
    (r"mistral-(?:tiny|small|medium|large|saba)(?:-latest|-\d{4}|-\d(?:[.-]\d)?)?(?=$|[@:]|-v\d)", "openai-json"),
    (r"(?:labs-)?(?:codes|devs|magis|minis|pix)tral(?:-[a-z0-9]+)?(?:-latest|-\d{4})(?=$|[@:]|-v\d)", "openai-json"),
    (r"open-mi[sx]tral-", "openai-json"),
    (r"deepseek-(?:chat|flash|reasoner)", "openai-json"),
    (r"command-(?:a|r)(?![a-z0-9])|command-r7b", "openai-json"),
    (r"sonar(?![a-z])", "openai-json"),
    (r"moonshot-v1|kimi-latest", "default-json"),
    (r"(?:qwen|qwq|qvq)-(?:max|plus|turbo|flash|long)", "default-json"),
    (r"nova-(?:\d-)?(?:micro|lite|pro|premier)", "default-json"),
)

MODEL_PATTERNS: tuple[ModelPattern, ...] = (*OPEN_MODELS, *API_MODELS)
"""Every model that is known by its id alone."""

PROVIDERS: tuple[Provider, ...] = (
    Provider("openai", "OpenAI, Chat Completions", "openai-json", aliases=("openai-chat",), api="openai-chat"),
    Provider("openai-responses", "OpenAI, Responses", "openai-json", api="openai-responses"),
    Provider(
        "azure",
        "Azure OpenAI and AI Foundry",
        "openai-json",
        aliases=("azure-openai", "azure-ai"),
        api="openai-chat",
        models=MODEL_PATTERNS,
    ),
    Provider("mistral", "Mistral La Plateforme", "openai-json", aliases=("mistralai", "mistral-ai"), api="mistral"),
    Provider("deepseek", "DeepSeek platform", "openai-json", api="openai-chat"),
    Provider("grok", "xAI", "openai-json", aliases=("xai", "x-ai"), api="openai-chat"),
    Provider("gemini", "Google AI Studio", "gemini-json", aliases=("google", "google-genai"), api="gemini"),
    Provider(
        "vertex",
        "Google Vertex AI",
        "gemini-json",
        aliases=("vertexai", "vertex-ai", "google-vertex", "google-cloud"),
        api="gemini",
        models=MODEL_PATTERNS,
    ),
    Provider("anthropic", "Anthropic, Messages", "xml-items", aliases=("claude",), api="anthropic"),
    Provider(
        "bedrock",
        "Amazon Bedrock, Converse",
        "default-json",
        aliases=("aws-bedrock", "amazon-bedrock", "bedrock-converse"),
        api="bedrock-converse",
        models=MODEL_PATTERNS,
    ),
    Provider("cohere", "Cohere, v2 chat", "openai-json", api="cohere-v2"),
    Provider("perplexity", "Perplexity; its API takes no tools", "openai-json", aliases=("pplx",), api="openai-chat"),
    Provider("minimax", "MiniMax", "openai-json", aliases=("minimaxi",), api="openai-chat"),
    Provider("groq", "Groq", "openai-json", api="openai-chat", models=OPEN_MODELS),
    Provider("cerebras", "Cerebras", "openai-json", api="openai-chat", models=OPEN_MODELS),
    Provider("sambanova", "SambaNova", "openai-json", api="openai-chat", models=OPEN_MODELS),
    Provider("deepinfra", "DeepInfra", "openai-json", api="openai-chat", models=MODEL_PATTERNS),
    Provider(
        "together",
        "Together AI",
        "openai-json",
        aliases=("together-ai", "togetherai"),
        api="openai-chat",
        models=OPEN_MODELS,
    ),
    Provider(
        "fireworks", "Fireworks AI", "openai-json", aliases=("fireworks-ai",), api="openai-chat", models=OPEN_MODELS
    ),
    Provider("openrouter", "OpenRouter", "openai-json", api="openai-chat", models=MODEL_PATTERNS),
    Provider("litellm", "LiteLLM proxy", "openai-json", api="openai-chat", models=MODEL_PATTERNS),
    Provider(
        "huggingface",
        "Hugging Face Inference Providers and TGI",
        "openai-json",
        aliases=("hf", "hugging-face", "tgi"),
        api="openai-chat",
        models=OPEN_MODELS,
    ),
    Provider("vllm", "vLLM server", "openai-json", api="openai-chat", models=OPEN_MODELS),
    Provider("sglang", "SGLang server", "openai-json", api="openai-chat", models=OPEN_MODELS),
    Provider(
        "llama.cpp",
        "llama.cpp server",
        "openai-json",
        aliases=("llama-cpp", "llamacpp", "llama-server"),
        api="openai-chat",
        models=OPEN_MODELS,
    ),
    Provider("ollama", "Ollama", "default-json", api="ollama", models=OPEN_MODELS),
    Provider("lmstudio", "LM Studio", "default-json", aliases=("lm-studio",), api="openai-chat", models=OPEN_MODELS),
    Provider("autobyteus", "AutoByteus LLM server", "default-json", models=OPEN_MODELS),
    Provider("kimi", "Moonshot AI", "default-json", aliases=("moonshot", "moonshotai"), api="openai-chat"),
    Provider("qwen", "Alibaba Model Studio", "default-json", aliases=("dashscope", "alibaba"), api="openai-chat"),
    Provider("zhipu", "Z.ai", "default-json", aliases=("zhipuai", "zai", "z-ai", "z.ai"), api="openai-chat"),
    Provider("baidu", "Baidu Qianfan", "default-json", aliases=("qianfan",), api="openai-chat"),
)

MAKERS: tuple[str, ...] = (
    *("ai21", "ai21labs", "amazon", "anthropic", "azure", "bedrock", "cohere", "databricks", "deepseek", "deepseek-ai"),
    *(
        "google",
        "groq",
        "ibm",
        "meta",
        "microsoft",
        "minimax",
        "mistral",
        "mistralai",
        "moonshot",
        "moonshotai",
        "nous",
    ),
    *("nvidia", "openai", "openrouter", "qwen", "together", "unsloth", "vertex", "xai", "zai", "zai-org", "zhipu"),
)
"""Names of makers and resellers that are joined to an id by a mere `-`: `zai-glm-4.6`, `databricks-claude-sonnet-4`."""

_SEPARATOR = re.compile(r"^|[/\\:@._~]|--")
_MAKER = re.compile(rf"(?:{'|'.join(sorted(MAKERS, key=len, reverse=True))})-")
_VERSION = re.compile(r"(?<!\d)(\d)[-p](\d)(?![\da-z])")


def model_names(model: str) -> tuple[str, ...]:
    """Return the names that a model id is looked up by; `match_model` says how they are found."""
    raw = model.strip().lower()
    text = _VERSION.sub(r"\1.\2", raw.replace("_", "-").replace(" ", "-"))  # as long as `raw`
    return tuple(
        dict.fromkeys(text[at:] for start in _SEPARATOR.finditer(raw) for at in _after_makers(text, start.end()))
    )


def _after_makers(text: str, at: int) -> Iterator[int]:
    yield at
    while maker := _MAKER.match(text, at):
        at = maker.end()
        yield at


def match_model(model: str, patterns: Iterable[ModelPattern]) -> str | None:
    r"""Find the dialect of a model id; None if no pattern matches.

    Ids are normalised first: lower case, `_` and space become `-`, and
    `3-1` and `3p1` become `3.1`. A pattern may match at the start of the id or
    after any of `/ \ : @ . _ ~ --`, and there also after a maker's name and `-`.
    So a pattern for `qwen3-coder` finds `Qwen/Qwen3-Coder-30B-A3B-Instruct`,
    `qwen3_coder.Q4_K_M.gguf`, `accounts/fireworks/models/qwen3-coder-480b` and
    `unsloth-qwen3-coder`, and does not find `distilled-from-qwen3-coder`.
    """
    names = model_names(model)
    for pattern, dialect in patterns:
        expression = re.compile(pattern)
        if any(expression.match(name) for name in names):
            return dialect
    return None


def family(name: str, patterns: Iterable[ModelPattern]) -> tuple[str, ...]:
    """List the dialects of the models whose ids begin with a word, such as `llama`, in the patterns' order."""
    begins = re.compile(rf"{re.escape(name.strip().lower())}(?![a-z])")
    return tuple(dict.fromkeys(dialect for pattern, dialect in patterns if begins.match(pattern)))


def respelt(model: str, patterns: Sequence[ModelPattern]) -> tuple[str, ...]:
    """Give a model's id with the family's name right, if it is misspelt: `gpt-5` for `gtp-5`."""
    words = {word: word for pattern, _ in patterns for word in re.findall(r"[a-z]{3,}", pattern)}
    found = re.search(r"[a-z]{3,}", _SEPARATOR.split(model.strip().lower())[-1])
    near = close_names(found.group(), words) if found is not None else ()
    tried = (model.strip().lower().replace(found.group(), word) for word in near) if found is not None else ()
    return tuple(one for one in tried if match_model(one, patterns))[:1]
