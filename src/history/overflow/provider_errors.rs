//! How providers word that a request is too long, and errors that only resemble it.
//!
//! One row per wording, with an example and the numbers in it. Patterns are matched against the text in lower case. In
//! a pattern `{actual}`, `{limit}`, `{input}`, `{output}` and `{over}` match a number, which may have thousands
//! separators.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::classify::{Confidence, Kind, Numbers};

/// A wording.
pub(super) struct ErrorWording {
    /// Stable name.
    pub name: &'static str,
    /// The provider, if it is the wording of one.
    pub provider: Option<&'static str>,
    pub kind: Kind,
    pub confidence: Confidence,
    pattern: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    example: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    numbers: (Option<u64>, Option<u64>),
}

const fn row(
    kind: Kind,
    name: &'static str,
    provider: &'static str,
    pattern: &'static str,
    example: &'static str,
    numbers: (Option<u64>, Option<u64>),
) -> ErrorWording {
    let (provider, confidence) = if provider.is_empty() {
        (None, Confidence::Medium)
    } else {
        (Some(provider), Confidence::High)
    };
    ErrorWording { name, provider, kind, confidence, pattern, example, numbers }
}

const NONE: (Option<u64>, Option<u64>) = (None, None);

const fn both(actual: u64, limit: u64) -> (Option<u64>, Option<u64>) {
    (Some(actual), Some(limit))
}

const fn only_limit(limit: u64) -> (Option<u64>, Option<u64>) {
    (None, Some(limit))
}

use Kind::{EncryptedReasoning, Field, Other, Overflow, Rate, ThinkingBinding, ThoughtSignature};

/// In order: of two matching rows of a kind, the first one counts.
#[rustfmt::skip]
pub(super) const WORDINGS: &[ErrorWording] = &[
    // Rate limits, which shortening does not lift.
    row(Rate, "tokens-per-minute", "openai", r"tokens per (?:min|hour|day).{0,60}?limit:? {limit},(?: used:? [0-9,]+,)? requested:? {actual}",
        "Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced in order to run successfully.", both(50_000, 30_000)),
    row(Rate, "too-many-tokens-please-wait", "bedrock", r"too many tokens(?: per day)?, please wait", "Too many tokens, please wait before trying again.", NONE),
    row(Rate, "tokens-per-time", "", r"(?:tokens?|requests?) ?(?:per|/) ?(?:min|hour|day|second)|\b[tr]p[mds]\b|\b(?:qps|qpm)\b", "You exceeded 40,000 input tokens per minute.", NONE),
    row(Rate, "limit-of-a-time", "", r"(?:daily|hourly|weekly|monthly|per[- ](?:minute|hour|day|month)|usage)(?: (?:token|request|usage|message))?s? (?:limit|quota|budget|allowance)", "Daily token limit reached.", NONE),
    row(Rate, "concurrency", "", r"concurren(?:t|cy)|server (?:is )?(?:busy|overloaded)|currently overloaded", "max organization concurrency: 3, please try again after 1 seconds", NONE),
    row(Rate, "chinese-rate", "", "限流|频率|速率|并发|配额|过于频繁|访问量过大|每分钟|流控", "您的账户已达到速率限制,请您控制请求频率", NONE),
    row(Rate, "rate-limit", "", r"rate[ _-]?limit", "Number of requests exceeds your rate limit.", NONE),
    row(Rate, "throttling", "", r"throttl", "ThrottlingException: slow down", NONE),
    row(Rate, "too-many-requests", "", r"too many requests", "429 Too Many Requests", NONE),
    row(Rate, "quota", "", r"\bquota\b", "You exceeded your current quota, please check your plan and billing details.", NONE),
    // The reasoning that is sent again is not accepted. Shortening does not help, leaving it out does.
    row(ThinkingBinding, "anthropic-thinking-bound", "anthropic", r"invalid .{0,3}signature.{0,3} in .{0,3}thinking.{0,3} block|(?:thinking )?block is bound to a different conversation",
        "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.", NONE),
    row(ThinkingBinding, "anthropic-thinking-changed", "anthropic", r"thinking.{0,3} or .{0,3}redacted_thinking.{0,3} blocks in the latest assistant message cannot be modified",
        "messages.1.content.2: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", NONE),
    row(EncryptedReasoning, "openai-encrypted-content", "openai", r"encrypted content .{0,200}?could not be (?:verified|decrypted)|invalid_encrypted_content",
        "The encrypted content gAAA... could not be verified. Reason: Encrypted content organization_id did not match the target organization.", NONE),
    row(ThoughtSignature, "gemini-thought-signature", "gemini", r"missing a .{0,3}thought.?signature|thought.?signature.{0,3} is not valid|(?:invalid|corrupted) thought.?signature",
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.", NONE),
    // One item is too long: dropping others does not help.
    row(Field, "openai-too-long-for-field", "openai", r"(?:string|array) too long\. expected an? (?:string|array) with maximum length {limit}, but got an? (?:string|array) with length {actual}",
        "Invalid 'input[3].output': string too long. Expected a string with maximum length 10485760, but got a string with length 11300112 instead.", both(11_300_112, 10_485_760)),
    row(Field, "too-long-for-field", "", r"(?:string|array) too long\. expected", "Invalid 'tools': array too long. Expected at most 128 items.", NONE),
    row(Field, "anthropic-image-too-large", "anthropic", r"image exceeds [0-9.]+ ?mb maximum(?:: {actual} bytes > {limit} bytes)?",
        "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", both(5_316_852, 5_242_880)),
    row(Field, "anthropic-pdf-pages", "anthropic", r"maximum of {limit} pdf pages", "A maximum of 100 PDF pages may be provided.", only_limit(100)),
    row(Field, "at-most-characters", "", r"should have at most {limit} (?:characters|items)", "tools.0.custom.description: String should have at most 1024 characters", only_limit(1024)),
    row(Field, "bedrock-max-length", "bedrock", r"malformed input request:.{0,80}?expected maxlength: {limit}, actual: {actual}",
        "Malformed input request: expected maxLength: 42000, actual: 46735, please reformat your input and try again.", both(46_735, 42_000)),
    // About the answer's length or the order of messages, not about the length of the request.
    row(Other, "openai-max-tokens-too-large", "openai", r"max_(?:completion_|output_)?tokens.{0,3} is too large: [0-9,]+\. this model supports at most",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", NONE),
    row(Other, "anthropic-max-tokens-too-large", "anthropic", r"max_tokens: [0-9,]+ > [0-9,]+, which is the maximum allowed number of output tokens",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5", NONE),
    row(Other, "bedrock-max-tokens-too-large", "bedrock", r"the maximum tokens you requested exceeds the model limit of",
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", NONE),
    row(Other, "anthropic-tool-pairs", "anthropic", r"tool_use.{0,3} ids were found without .{0,3}tool_result",
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", NONE),
    row(Other, "anthropic-tool-results-alone", "anthropic", r"unexpected .{0,3}tool_use_id.{0,3} found in .{0,3}tool_result",
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A.", NONE),
    row(Other, "openai-tool-pairs", "openai", r"tool_calls.{0,3} must be followed by tool messages|no tool output found for function call",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.", NONE),
    row(Other, "credit", "", "credit balance is too low|insufficient (?:account )?(?:balance|credits|funds)|requires more credits|余额不足|欠费", "Your credit balance is too low to access the Anthropic API.", NONE),
    row(Other, "billing", "", r"payment required|billing (?:plan|account|cycle)|(?:upgrade|subscription|pricing) (?:plan|tier)|not (?:included|available) (?:in|on|for) your (?:current )?plan", "402 Payment Required: request token limit exceeded for this billing plan", NONE),
    row(Other, "upload", "", r"upload(?:s|ed|ing)? (?:size )?(?:limit|quota)|upload(?:s|ed|ing)?.{0,30}?(?:too (?:large|big)|exceed)|(?:^|[^a-z])(?:file|attachment)s?(?: size)?(?: is| are)? (?:too (?:large|big)|exceed)", "request size exceeds upload limit", NONE),
    row(Other, "output-limit", "", r"(?:max_tokens|max_completion_tokens|max_output_tokens|max_new_tokens|max_?output_?tokens|max_?tokens).{0,40}?(?:must be|should be|cannot be|invalid|out of range|supported range|less than or equal)", "Range of max_tokens should be [1, 8192]", NONE),
    row(Other, "output-limit-reached", "", r"(?:output|completion|response|generation)[ _-](?:tokens? )?limit (?:(?:was|is|has been) )?(?:exceeded|reached|hit)|exceed(?:s|ed|ing)? (?:the |your |its )?(?:max(?:imum)? )?(?:output|completion|response)[ _-]tokens?\b",
        "Output token limit reached", NONE),
    row(Other, "deadline", "", r"context (?:deadline|canceled|cancelled)", "rpc error: context deadline exceeded", NONE),
    // The context is full.
    row(Overflow, "openrouter-context-length", "openrouter", r"this endpoint's maximum context length is {limit} tokens(?:.{0,40}?requested (?:about )?{actual} tokens(?:.{0,60}?, {output} in the output)?)?",
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (141808 of text input, 8192 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", both(150_000, 131_072)),
    row(Overflow, "vllm-context-length", "vllm", r"maximum context length is {limit} tokens.{0,20}?requested {output} output tokens and your (?:prompt|request|messages) (?:contains?|resulted in|has) (?:at least )?{input} input tokens",
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens.", both(262_145, 262_144)),
    row(Overflow, "vllm-max-tokens", "vllm", r"max_(?:completion_)?tokens.{0,3} is too large: {output}\..{0,20}?maximum context length is {limit} tokens and your request has {input} input tokens",
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).", both(9096, 8192)),
    row(Overflow, "vllm-passed", "vllm", r"passed {input} input (?:tokens|characters) and requested {output} output tokens.{0,60}?context length is only {limit} tokens",
        "You passed 8193 input tokens and requested 1024 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7168 tokens. Please reduce the length of the input prompt.", both(9217, 8192)),
    row(Overflow, "sglang-input-length", "sglang", r"input length \({actual} tokens\) exceeds the maximum allowed length \({limit} tokens\)",
        "Input length (265330 tokens) exceeds the maximum allowed length (262144 tokens). Use a shorter input or enable --allow-auto-truncate.", both(265_330, 262_144)),
    row(Overflow, "tensorrt-prompt-length", "tensorrt", r"prompt length \({actual}\) exceeds maximum input length \({limit}\)", "Prompt length (5000) exceeds maximum input length (4096). Set log level to info for details.", both(5000, 4096)),
    row(Overflow, "vllm-prompt-length", "vllm", r"prompt \(length {actual}\) is longer than the maximum model length of {limit}",
        "The decoder prompt (length 17772) is longer than the maximum model length of 16384. Make sure that `max_model_len` is no smaller than the number of text tokens.", both(17_772, 16_384)),
    row(Overflow, "vllm-input-prompt", "vllm", r"input prompt \({actual} tokens\) is too long and exceeds limit of {limit}", "Input prompt (2664 tokens) is too long and exceeds limit of 2048", both(2664, 2048)),
    row(Overflow, "openai-context-length", "openai", r"maximum context length is {limit} tokens.{0,40}?(?:resulted in|requested) {actual} tokens(?:.{0,60}?[,;] {output} (?:in|for) the completion)?",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 140123 tokens. Please reduce the length of the messages.", both(140_123, 128_000)),
    row(Overflow, "openai-context-window", "openai", r"input exceeds the context window of this model", "Your input exceeds the context window of this model. Please adjust your input and try again.", NONE),
    row(Overflow, "openai-configured-limit", "openai", r"input tokens exceed the configured limit of {limit} tokens(?:.{0,20}?messages resulted in {actual} tokens)?",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.", both(300_000, 272_000)),
    row(Overflow, "fireworks-prompt-too-long", "fireworks", r"prompt is too long: {actual}, model maximum context length: {limit}", "The prompt is too long: 140000, model maximum context length: 131071", both(140_000, 131_071)),
    row(Overflow, "anthropic-prompt-too-long", "anthropic", r"prompt is too long: {actual} tokens > {limit} maximum", "prompt is too long: 213462 tokens > 200000 maximum", both(213_462, 200_000)),
    row(Overflow, "anthropic-input-and-max-tokens", "anthropic", r"input length and .?max_tokens.? exceed context limit: {input} \+ {output} > {limit}",
        "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again", both(206_192, 200_000)),
    row(Overflow, "anthropic-request-size", "anthropic", r"request exceeds the maximum (?:allowed )?(?:size|number of bytes)", "Request exceeds the maximum size", NONE),
    row(Overflow, "gemini-token-count", "gemini", r"input token count \(?{actual}\)? exceeds the maximum number of tokens allowed(?: \(?{limit}\)?)?",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", both(1_196_265, 1_048_575)),
    row(Overflow, "gemini-supports-up-to", "gemini", r"input token count is {actual} but (?:the )?model only supports up to {limit}", "Unable to submit request because the input token count is 40000 but model only supports up to 32767.", both(40_000, 32_767)),
    row(Overflow, "bedrock-too-long", "bedrock", r"input is too long for requested model", "Input is too long for requested model.", NONE),
    row(Overflow, "bedrock-token-limit", "bedrock", r"input exceeds the max(?:imum)? input token limit", "Input exceeds the max input token limit", NONE),
    row(Overflow, "bedrock-too-many-input-tokens", "bedrock", r"too many input tokens\. max input tokens: {limit}, request input token count: {actual}", "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 14000", both(14_000, 8192)),
    row(Overflow, "poolside-input-length", "poolside", r"input length {actual} exceeds the maximum allowed input length of {limit} tokens", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", both(131_393, 131_040)),
    row(Overflow, "compatible-input-length", "", r"input length \({actual}\) exceeds (?:the )?model's maximum context length \({limit}\)", "Input length (265330) exceeds model's maximum context length (262144).", both(265_330, 262_144)),
    row(Overflow, "litellm-token-count", "litellm", r"requested token count exceeds the model's maximum context length of {limit} tokens(?:.{0,20}?requested a total of {actual} tokens)?",
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 130000 tokens from the input messages and 10000 tokens for the completion.", both(140_000, 131_072)),
    row(Overflow, "litellm-error", "litellm", r"contextwindowexceedederror", "litellm.ContextWindowExceededError: litellm.BadRequestError: the request is too long", NONE),
    row(Overflow, "xai-prompt-length", "xai", r"maximum prompt length is {limit} but the request contains {actual} tokens", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", both(537_812, 131_072)),
    row(Overflow, "together-context-length", "together", r"input \({actual} tokens\) is longer than the model's context length \({limit} tokens\)", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", both(9000, 8192)),
    row(Overflow, "tgi-sum", "huggingface", r"inputs.? tokens \+ .?max_new_tokens.? must be <= {limit}\. given: {input} .?inputs.? tokens and {output}",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 512 `max_new_tokens`", both(9512, 8192)),
    row(Overflow, "tgi-inputs", "huggingface", r"inputs.? must have less than {limit} tokens\. given: {actual}", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5012", both(5012, 4096)),
    row(Overflow, "llama-cpp-context-size", "llama.cpp", r"request \({actual} tokens\) exceeds the available context size \({limit} tokens\)", "request (144055 tokens) exceeds the available context size (131072 tokens), try increasing it", both(144_055, 131_072)),
    row(Overflow, "llama-cpp-available", "llama.cpp", r"exceeds the available context size", "the request exceeds the available context size. try increasing the context size or enable context shift", NONE),
    row(Overflow, "lm-studio-keep", "lmstudio", r"tokens to keep from the initial prompt is greater than the context length(?: \(n_keep: ?{actual} ?>= ?n_ctx: ?{limit}\))?",
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.", both(9000, 4096)),
    row(Overflow, "lm-studio-loaded", "lmstudio", r"keep the first {actual} tokens when context the overflows\..{0,60}?context length of only {limit} tokens",
        "Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.", both(5012, 4096)),
    row(Overflow, "copilot-token-count", "copilot", r"prompt token count of {actual} exceeds the limit of {limit}", "prompt token count of 140000 exceeds the limit of 128000", both(140_000, 128_000)),
    row(Overflow, "github-body", "github", r"request body too large for .{1,80}? model\. max size: {limit} tokens", "Request body too large for gpt-4o model. Max size: 8000 tokens.", only_limit(8000)),
    row(Overflow, "minimax-context-window", "minimax", r"context window exceeds limit", "invalid params, context window exceeds limit (2013)", NONE),
    row(Overflow, "siliconflow-prompt-tokens", "siliconflow", r"length of prompt_tokens \({actual}\) must be less than max_seq_len \({limit}\)", "length of prompt_tokens (41230) must be less than max_seq_len (32768).", both(41_230, 32_768)),
    row(Overflow, "cloudflare-estimated", "cloudflare", r"estimated number of input and maximum output tokens \({actual}\) exceeded this model context window limit \({limit}\)",
        "AiError: The estimated number of input and maximum output tokens (66391) exceeded this model context window limit (32000).", both(66_391, 32_000)),
    row(Overflow, "watsonx-total", "watsonx", r"number of input tokens {actual} cannot exceed the total tokens limit {limit}", "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", both(5000, 4096)),
    row(Overflow, "cortex-max-tokens", "snowflake", r"max tokens of {limit} exceeded", "max tokens of 8192 exceeded", only_limit(8192)),
    row(Overflow, "doubao-message-tokens", "volcengine", r"total tokens of (?:image and )?text exceed max message tokens", "Total tokens of image and text exceed max message tokens.", NONE),
    row(Overflow, "vertex-payload", "gemini", r"request payload size exceeds the limit", "Request payload size exceeds the limit: 20971520 bytes.", NONE),
    row(Overflow, "cohere-size-limit", "cohere", r"too many tokens: size limit exceeded by {over} tokens", "too many tokens: size limit exceeded by 15000 tokens. Try using shorter or fewer inputs.", NONE),
    row(Overflow, "kimi-token-limit", "kimi", r"exceeded model token limit: {limit}(?: \(requested: {actual}\))?", "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", both(140_000, 131_072)),
    row(Overflow, "mistral-too-large", "mistral", r"prompt contains {actual} tokens.{0,80}?too large for model with {limit} maximum context length",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", both(40_000, 32_768)),
    row(Overflow, "ollama-by", "ollama", r"prompt too long; exceeded (?:max )?context length by {over} tokens?", "prompt too long; exceeded max context length by 1200 tokens", NONE),
    row(Overflow, "ollama-exceeded-for", "ollama", r"context length exceeded for", "context length exceeded for llama3.2", NONE),
    row(Overflow, "cohere-total", "cohere", r"total tokens exceeds the model's max of {limit}", "total tokens exceeds the model's max of 4096", only_limit(4096)),
    row(Overflow, "cohere-received", "cohere", r"number of tokens (?:in the prompt|\(prompt and prediction\)) cannot exceed {limit} ?(?:-|–) ?received {actual}", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt.", both(4292, 4081)),
    row(Overflow, "qwen-range", "qwen", r"range of input length should be \[1, ?{limit}\]", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", only_limit(129_024)),
    row(Overflow, "zai-max-length", "zai", r"prompt exceeds max length", "Prompt exceeds max length", NONE),
    row(Overflow, "current-length", "cerebras", r"current length is {actual} while limit is {limit}", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", both(9000, 8192)),
    row(Overflow, "groq-reduce", "groq", r"reduce the length of the messages or completion", "Please reduce the length of the messages or completion.", NONE),
    // Generic wordings.
    row(Overflow, "sum-over-limit", "", r"(?:prompt|input|messages|context)[^.]{0,60}? {input} \+ {output} > {limit}", "prompt and completion do not fit: 30000 + 4096 > 32768", both(34_096, 32_768)),
    row(Overflow, "input-length", "", r"input length {actual} exceeds (?:the |model'?s? )?max(?:imum)? length(?: of)? {limit}", "Input length 140000 exceeds the maximum length 131072", both(140_000, 131_072)),
    row(Overflow, "input-tokens-exceed", "", r"(?:input|prompt|message|total) tokens(?: of [a-z ]{1,40}?)? exceeds? (?:the )?(?:limit|max)(?:[a-z]* of {limit})?", "Number of input tokens exceeds maximum length.", NONE),
    row(Overflow, "context-length", "", r"maximum context length (?:is|of) {limit}", "This model has a maximum context length of 32,768 tokens.", only_limit(32_768)),
    row(Overflow, "context-is", "", r"context (?:window|length|size|limit)(?: (?:is|of)(?: only)?|:) {limit}(?: tokens)?.{0,60}?(?:requested|sent|provided|used|has|contains|got|given) (?:about )?{actual}(?: tokens)?",
        "Model context window is 128k tokens, you requested 256k tokens", both(256_000, 128_000)),
    row(Overflow, "exceeds-length-of", "", r"(?:prompt|input|request|message|conversation|history)[^.]{0,40}?\(?{actual}(?: tokens)?\)?,? (?:exceeds?|is (?:longer|larger|greater) than|>) [^.]{0,60}?(?:context|max(?:imum)?|limit)[^.0-9]{0,40}?{limit}",
        "The request (140000 tokens) exceeds the maximum of 128000 tokens", both(140_000, 128_000)),
    row(Overflow, "context-overflow", "", r"context(?:[ _-]window)?[ _-]?overflow", "Context overflow: Summarization failed", NONE),
    row(Overflow, "reduce-length", "", r"reduce the length of (?:the|your) (?:messages|prompt|input)", "Please reduce the length of your prompt.", NONE),
    row(Overflow, "context-exceeded", "", r"context[ _-]?(?:window|length|size|limit)(?: (?:is|was|has been|limit))?[ _-]?exceeded", "The context window was exceeded.", NONE),
    row(Overflow, "exceeds-context", "", r"exceed(?:s|ed|ing)?[ _][a-z0-9' -]{0,40}?(?:context[ _-](?:window|length|size|limit|budget|capacity)|token limit|maximum number of (?:input )?tokens|max(?:imum)?[ _](?:input|prompt|sequence|model)[ _](?:tokens|length))", "The conversation exceeds the maximum context window for this model.", NONE),
    row(Overflow, "larger-than-context", "", r"(?:larger|longer|greater|bigger) than (?:the )?(?:model'?s? )?(?:maximum )?context", "The request is larger than the model's context window.", NONE),
    row(Overflow, "prompt-too-long", "", r"(?:prompt|input|conversation|context|request)(?: tokens?| body)?(?: is| are)?[ _]too[ _](?:long|large)(?:[^a-z0-9]|$)", "Prompt too large", NONE),
    row(Overflow, "request-size", "", r"request (?:body )?size exceeds|request entity too large|payload too large|content too large", "Request size exceeds the model's maximum.", NONE),
    row(Overflow, "too-many-prompt-tokens", "", r"too many (?:input |prompt )tokens|(?:prompt|input|request) (?:has|contains) too many tokens|too many tokens", "Prompt has too many tokens.", NONE),
    row(Overflow, "token-limit", "", r"(?:token|context) limit (?:exceeded|reached)|maximum (?:number of )?tokens exceeded", "token limit exceeded", NONE),
    row(Overflow, "maximum-context-length", "", r"max(?:imum)? (?:model )?context (?:length|window|size)", "Maximum context length", NONE),
    row(Overflow, "chinese", "", "上下文(?:长度|窗口)?(?:已)?(?:过长|太长|超长|超出|超过|超限|溢出)|(?:输入|提示词|请求|对话|消息|prompt ?)(?:内容|文本|长度|历史)*(?:过长|太长|超长|超限|超出|超过)|超(?:出|过).{0,60}?(?:上下文|最大(?:输入)?长度|长度限制|token ?(?:数量?)?(?:限制|上限))|tokens? ?(?:数量?|总数)?(?:已)?超(?:出|过|限)|(?:压缩|缩短|精简)(?:上下文|输入|提示词|对话)", "输入内容过长,请缩短后重试", NONE),
];

/// Returns the numbers in a text of unknown wording.
pub(super) fn loose_numbers(text: &[u8]) -> Numbers {
    let mut numbers = Numbers::default();
    for pattern in LOOSE {
        let read = read(pattern, text, None);
        numbers.actual = numbers.actual.or(read.actual);
        numbers.limit = numbers.limit.or(read.limit);
    }
    numbers
}

/// The compiled wordings.
pub(super) struct Matcher {
    set: RegexSet,
}

const NUMBER: &str = r"(?:[0-9]{1,3}(?:[,_.'][0-9]{3})+|[0-9]+)(?:[km]\b)?";

/// Patterns of numbers in unknown wordings, for numbers that a wording leaves open.
const LOOSE: &[&str] = &[
    r"requested (?:a total of |about |approximately |up to )?{actual} tokens",
    r"resulted in (?:about )?{actual} tokens",
    r"\b(?:prompt|input|request|messages?|conversation|history|it) (?:has|have|had|contains?|is|are|was|of|uses?|used) (?:about |approximately )?{actual} (?:input |prompt )?tokens",
    r"(?:limit|maximum|max|window|length|size)(?: (?:is|of|was)(?: only)?|:) {limit} tokens",
];

impl Matcher {
    /// Returns the compiled rows, or `None` if the table is invalid, which the tests exclude.
    pub(crate) fn get() -> Option<&'static Matcher> {
        static MATCHER: OnceLock<Option<Matcher>> = OnceLock::new();
        let matcher = MATCHER.get_or_init(|| {
            let patterns = WORDINGS.iter().map(|wording| expression(wording.pattern, false));
            let set =
                RegexSetBuilder::new(patterns).unicode(false).dot_matches_new_line(true).build();
            set.ok().map(|set| Matcher { set })
        });
        matcher.as_ref()
    }

    /// Returns the indexes of the rows that match, in order.
    pub(crate) fn matches(&self, text: &[u8]) -> Vec<usize> {
        self.set.matches(text).iter().collect()
    }
}

impl ErrorWording {
    /// Returns the numbers in a text that this wording matches. `window` is the limit if the text states only the
    /// excess.
    pub(crate) fn read(&self, text: &[u8], window: Option<u64>) -> Numbers {
        read(self.pattern, text, window)
    }
}

fn read(pattern: &str, text: &[u8], window: Option<u64>) -> Numbers {
    let mut numbers = Numbers::default();
    // Compiled on demand: errors are rare, and most rows never match.
    let expression = RegexBuilder::new(&expression(pattern, true))
        .unicode(false)
        .dot_matches_new_line(true)
        .build();
    let Some(found) = expression.ok().as_ref().and_then(|regex: &Regex| regex.captures(text))
    else {
        return numbers;
    };
    let number = |name| found.name(name).and_then(|found| number(found.as_bytes()));
    numbers.output = number("output");
    numbers.limit = number("limit");
    let sum = number("input").map(|input| input.saturating_add(numbers.output.unwrap_or(0)));
    numbers.actual = number("actual").or(sum);
    if let (None, Some(over), Some(window)) = (numbers.actual, number("over"), window) {
        numbers.actual = Some(window.saturating_add(over));
    }
    numbers
}

fn expression(pattern: &str, named: bool) -> String {
    let names = ["actual", "limit", "input", "output", "over"];
    names.iter().fold(pattern.to_owned(), |pattern, name| {
        let group = if named { format!("(?<{name}>{NUMBER})") } else { NUMBER.to_owned() };
        pattern.replace(&format!("{{{name}}}"), &group)
    })
}

/// Parses a number that JavaScript represents exactly; thousands and millions may be a letter.
fn number(text: &[u8]) -> Option<u64> {
    let digits: String =
        text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    let factor = match text.last() {
        Some(b'k') => 1_000,
        Some(b'm') => 1_000_000,
        _ => 1,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(factor).filter(|number| *number < 1 << 53)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_row_matches_its_example_and_reads_its_numbers() {
        let matcher = Matcher::get().expect("the table compiles");
        for (at, wording) in WORDINGS.iter().enumerate() {
            let text = wording.example.to_lowercase();
            let found = matcher.matches(text.as_bytes());
            let first = found.iter().find(|&&row| WORDINGS[row].kind == wording.kind);
            assert_eq!(first, Some(&at), "{}: another row comes first", wording.name);
            let numbers = wording.read(text.as_bytes(), None);
            assert_eq!((numbers.actual, numbers.limit), wording.numbers, "{}", wording.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let names: HashSet<&str> = WORDINGS.iter().map(|wording| wording.name).collect();
        assert_eq!(names.len(), WORDINGS.len());
    }

    #[test]
    fn numbers_may_have_separators() {
        for (text, expected) in [
            ("131,072", Some(131_072)),
            ("1.048.576", Some(1_048_576)),
            ("200_000", Some(200_000)),
            ("128k", Some(128_000)),
            ("1m", Some(1_000_000)),
            ("99999999999999999999", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
        let limit = WORDINGS.iter().find(|wording| wording.name == "context-length").unwrap();
        assert_eq!(limit.read(b"maximum context length is 8,192. reduce", None).limit, Some(8192));
    }

    #[test]
    fn an_excess_needs_the_window() {
        let by = WORDINGS.iter().find(|wording| wording.name == "ollama-by").unwrap();
        let text = b"prompt too long; exceeded max context length by 1200 tokens";
        assert_eq!(by.read(text, Some(8192)).actual, Some(9392));
    }
}
