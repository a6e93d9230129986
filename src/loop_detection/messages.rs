//! Messages about loops for users and models.

use crate::text::join_sentences;
use crate::util::language::Language;

/// Kinds of loops. The names are public: `reason` of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopReason {
    /// A repeated call, with the same outcome as far as it is known.
    SameTool,
    /// A repeated sequence of calls.
    Cycle,
    /// A repeated error, turn after turn.
    SameError,
    /// Calls of a tool that does not exist.
    UnknownTool,
    /// A repeated exchange of messages without a call.
    NoToolCall,
    /// A passage repeated in one answer.
    RepeatedText,
    /// More calls than the budget of a run.
    MaxToolCalls,
    /// More approvals than a run has.
    MaxAttempts,
    /// More calls than any approval allows.
    HardCap,
}

/// Returns the sentence for a finding. `tool` is the tool of the calls, `count` their number.
pub fn finding(language: Language, reason: LoopReason, tool: &str, count: u64) -> String {
    let tool = shown(tool);
    match language {
        Language::English => match reason {
            LoopReason::SameTool => {
                format!(
                    "{tool} was called {count} times with the same arguments and nothing changed."
                )
            }
            LoopReason::Cycle => {
                format!(
                    "The same sequence of calls, with {tool}, was made {count} times and nothing changed."
                )
            }
            LoopReason::SameError => format!("The last {count} turns ended with the same error."),
            LoopReason::UnknownTool => {
                format!("{tool} was called {count} times, and there is no such tool.")
            }
            LoopReason::NoToolCall => {
                format!("The last {count} answers to the same message made no tool call.")
            }
            LoopReason::RepeatedText => {
                format!("One answer repeats the same passage {count} times.")
            }
            LoopReason::MaxToolCalls => {
                format!("{count} tools were called since the last approval.")
            }
            LoopReason::MaxAttempts => {
                format!("This run has already been allowed to continue {count} times.")
            }
            LoopReason::HardCap => {
                format!("This run has made {count} calls, the maximum for a run.")
            }
        },
        Language::Chinese => match reason {
            LoopReason::SameTool => format!("{tool} 已用相同参数调用 {count} 次，结果没有变化。"),
            LoopReason::Cycle => {
                format!("包括 {tool} 在内的同一组调用已依次重复 {count} 次，结果没有变化。")
            }
            LoopReason::SameError => format!("最近 {count} 轮都以同一个错误结束。"),
            LoopReason::UnknownTool => format!("{tool} 已被调用 {count} 次，但没有这个工具。"),
            LoopReason::NoToolCall => format!("对同一条消息的最近 {count} 次回答都没有调用工具。"),
            LoopReason::RepeatedText => format!("一次回答中同一段文字连续重复了 {count} 次。"),
            LoopReason::MaxToolCalls => format!("自上次批准以来已调用工具 {count} 次。"),
            LoopReason::MaxAttempts => format!("本次运行已被允许继续 {count} 次。"),
            LoopReason::HardCap => format!("本次运行已调用 {count} 次，达到单次运行的上限。"),
        },
    }
}

/// Returns the sentence after it if the call does not run.
pub fn stopped(language: Language) -> &'static str {
    match language {
        Language::English => {
            "The call was not run: the agent seems to be stuck. Tell it what to do differently, then start again."
        }
        Language::Chinese => "本次调用没有执行：智能体似乎陷入循环。请调整指令后重试。",
    }
}

/// Returns the sentence after it if a model reads on.
pub fn warned(language: Language) -> &'static str {
    match language {
        Language::English => "Do not repeat it: try something else.",
        Language::Chinese => "请换一种做法，不要重复。",
    }
}

/// Returns the text for a model whose call was refused after a question, with the sentence of the verdict, if it has one, at its
/// start. `may_ask` is false if the user has answered, or could not be asked.
pub fn refused(language: Language, message: Option<&str>, may_ask: bool) -> String {
    let Some(message) = message else {
        return match language {
            Language::English => {
                "This call repeats earlier ones without progress, and did not run.".to_owned()
            }
            Language::Chinese => "本次调用重复了之前的调用，没有进展，因此没有执行。".to_owned(),
        };
    };
    let advice = match (language, may_ask) {
        (Language::English, true) => {
            "The call was not run. Do not repeat it: try something else, or ask the user how to go on."
        }
        (Language::English, false) => "The call was not run. Do not repeat it: try something else.",
        (Language::Chinese, true) => {
            "本次调用没有执行。请换一种做法，不要重复，或询问用户如何继续。"
        }
        (Language::Chinese, false) => "本次调用没有执行。请换一种做法，不要重复。",
    };
    join_sentences(&[message, advice])
}

/// Returns the name of a tool for a sentence: on one line, and not long.
fn shown(tool: &str) -> String {
    const MAX_LENGTH: usize = 60;
    let plain: String =
        tool.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_LENGTH).collect();
    if plain.trim().is_empty() { "a tool".to_owned() } else { plain }
}
