//! Messages of notices as data: one set for each language and profile.

use crate::text::omitted_range;

/// The messages of a notice, with placeholders in braces.
#[derive(Debug)]
pub struct Wording {
    /// `{n}`: number of lines missing.
    pub(super) lines: &'static str,
    /// `{n}`: number of bytes missing.
    pub(super) bytes: &'static str,
    /// `{n}`: number of tokens missing, if the limit on tokens was reached.
    pub(super) tokens: &'static str,
    /// `{n}`, `{from}`, `{to}`: number and range of lines missing between two that are shown.
    pub(super) gap: &'static str,
    /// The gap line if all missing lines resemble the line `{like}` before them.
    pub(super) repeats: &'static str,
    /// The gap lines of a diff: `{added}` and `{removed}` lines are among the missing ones; the second one also has
    /// `{files}` files that are not shown at all.
    pub(super) changes: [&'static str; 2],
    /// `{n}`, `{total}`: number of lines shown, where gap lines state which.
    pub(super) scattered: &'static str,
    /// `{shown}`, `{files}`, `{hunks}`, `{total}`, `{added}`, `{removed}`: what is shown of a diff, and what it
    /// contains.
    pub(super) diff: &'static str,
    /// `{shown}`, `{total}`, `{lines}`: the rows of a table that are shown beside its header, and their lines.
    pub(super) csv: &'static str,
    /// `{shown}`, `{total}`: the failures of a test run that are named.
    pub(super) tests: &'static str,
    /// Follows if the output contains no end of the run.
    pub(super) unfinished: &'static str,
    /// The line that replaces binary data of `{n}` bytes: of an unknown kind, and of the kind `{kind}`.
    pub(super) binary: [&'static str; 2],
    /// Messages for previews of JSON.
    pub(super) json: JsonWords,
    /// The outcome of the call: success, failure.
    pub(super) outcome: [&'static str; 2],
    /// `{from}`, `{to}`, `{total}`: a range of lines that is shown.
    pub(super) shown: &'static str,
    /// `{shown}`, `{total}`, `{line}`: a line that is shown in part.
    pub(super) partial: &'static str,
    /// `{path}`: where the full output is saved.
    pub(super) saved: &'static str,
    /// `{head}`, `{tail}`, `{total}`, `{path}`: numbers of bytes saved of either end.
    pub(super) part: &'static str,
    /// `{reason}`: why nothing was saved.
    pub(super) lost: &'static str,
    /// `{limit}`: the hard ceiling that overrules a tool's own setting.
    pub(super) ceiling: &'static str,
    /// Introduces the notices of earlier previews.
    pub(super) earlier: &'static str,
    /// Messages for a command that was stopped: by its timeout of `{ms}`; by its user; by its host.
    pub(super) ended: [&'static str; 3],
    /// Message for a command that was stopped by a limit `{limit}` that an `{option}` of a command line sets.
    pub(super) ended_by_option: &'static str,
    /// `{code}`: the exit code of a command.
    pub(super) exit_code: &'static str,
    /// How to continue reading; see [`Advice`].
    pub(super) advice: Advice,
    /// `{path}`: marker and path in one line, for limits without room for more.
    pub(super) compact: &'static str,
    /// `{path}`: marker and path in one line if only a part was saved.
    pub(super) compact_part: &'static str,
    /// True if that line is the default form where the limits include the notice and both ends are shown.
    pub(super) is_compact: bool,
}

/// Descriptions of incomplete JSON, which cannot contain them itself.
#[derive(Debug, Clone, Copy)]
pub struct JsonWords {
    /// `{list}`: the list of the following messages.
    pub(super) shown: &'static str,
    /// `{which}`, `{total}`, `{path}`: the elements of an array that are shown.
    pub(super) items: &'static str,
    /// `{shown}`, `{total}`, `{path}`: number of members of an object that are shown.
    pub(super) members: &'static str,
    /// `{shown}`, `{total}`: number of top-level values that are shown.
    pub(super) values: &'static str,
    /// `{n}`: number of other arrays and objects.
    pub(super) more: &'static str,
    /// `{n}`: number of strings of which only the ends are shown.
    pub(super) texts: &'static str,
    /// Separates two messages.
    pub(super) between: &'static str,
}

/// The call to make next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Advice {
    /// Sentences for the tools of the model: search, read (`{line}`), delegate; each names `{tool}`.
    Available([&'static str; 3]),
    /// A sentence for all tools, and another one if a sub-agent is available.
    Fixed { plain: &'static str, delegate: Option<&'static str> },
}

/// The default messages.
pub static ENGLISH: Wording = Wording {
    lines: "...{n} lines truncated...",
    bytes: omitted_range::MARKER,
    tokens: "...{n} tokens truncated...",
    gap: "...{n} lines truncated: {from}-{to}...",
    repeats: "...{n} lines truncated: {from}-{to}, all like line {like}...",
    changes: [
        "...{n} lines truncated: {from}-{to}, +{added} -{removed}...",
        "...{n} lines truncated: {from}-{to}, +{added} -{removed}, {files} files not shown...",
    ],
    scattered: "Shown: {n} of {total} lines; each gap says which are missing.",
    diff: "Shown: {shown} of {files} files and {hunks} of {total} hunks of a diff of +{added} -{removed} lines.",
    csv: "Shown: the header and {shown} of {total} rows, lines {lines}.",
    tests: "Shown: {shown} of {total} failures of a test run.",
    unfinished: "The output ends before the test run does.",
    binary: ["[binary data, {n} bytes]", "[binary data: {kind}, {n} bytes]"],
    json: JsonWords {
        shown: "Shown: {list}.",
        items: "items {which} of {total} in {path}",
        members: "{shown} of {total} keys of {path}",
        values: "values {which} of {total}",
        more: "other arrays and objects in part: {n}",
        texts: "long strings without their middle (\u{2026}): {n}",
        between: "; ",
    },
    outcome: [
        "The tool call succeeded but the output was truncated.",
        "The tool call failed and its output was truncated.",
    ],
    shown: "Shown: lines {from}-{to} of {total}.",
    partial: "Shown: {shown} of {total} bytes of line {line}.",
    saved: "Full output saved to: {path}",
    part: "First {head} and last {tail} of its {total} bytes saved to: {path}",
    lost: "The full output could not be saved and was not kept ({reason}).",
    ceiling: "It was bounded although its tool asked to leave it alone, because it is over {limit} bytes.",
    earlier: "This output contained the preview of an earlier output, whose notice is:",
    ended: [
        "The command was ended because it ran longer than {ms} ms. If it needs more time and does not wait for input, \
         run it again with a larger timeout in milliseconds.",
        "The command was aborted by the user.",
        "The command was aborted.",
    ],
    ended_by_option: "The command was ended because it ran longer than {limit}. If it needs more time and does not wait for input, \
         run it again with a larger {option}.",
    exit_code: "Exit code: {code}",
    advice: Advice::Available([
        "Use {tool} to search that file.",
        "Use {tool} on that file from line {line} to read on.",
        "Use {tool} to have a sub-agent go through that file.",
    ]),
    compact: "... output truncated; full output saved to {path} ...",
    compact_part: "... output truncated; its first and last part saved to {path} ...",
    is_compact: false,
};

/// The default messages in Chinese.
pub static CHINESE: Wording = Wording {
    lines: "...已截断 {n} 行...",
    bytes: "...已截断 {n} 字节...",
    tokens: "...已截断 {n} 词元...",
    gap: "...已截断 {n} 行：第 {from}-{to} 行...",
    repeats: "...已截断 {n} 行：第 {from}-{to} 行，均与第 {like} 行相似...",
    changes: [
        "...已截断 {n} 行：第 {from}-{to} 行，+{added} -{removed}...",
        "...已截断 {n} 行：第 {from}-{to} 行，+{added} -{removed}，{files} 个文件未显示...",
    ],
    scattered: "显示 {n} 行，共 {total} 行；每处截断都注明缺少哪些行。",
    diff: "该差异共 +{added} -{removed} 行；显示 {files} 个文件中的 {shown} 个、{total} 个区块中的 {hunks} 个。",
    csv: "显示表头和 {total} 行数据中的 {shown} 行，即第 {lines} 行。",
    tests: "测试共 {total} 项失败，显示其中 {shown} 项。",
    unfinished: "输出到测试结束之前为止。",
    binary: ["[二进制数据，{n} 字节]", "[二进制数据：{kind}，{n} 字节]"],
    json: JsonWords {
        shown: "显示：{list}。",
        items: "{path} 的第 {which} 项（共 {total} 项）",
        members: "{path} 的 {total} 个键中的 {shown} 个",
        values: "第 {which} 个值（共 {total} 个）",
        more: "另有 {n} 个数组或对象只显示一部分",
        texts: "{n} 个长字符串省略了中间（\u{2026}）",
        between: "；",
    },
    outcome: ["工具调用成功，但输出已被截断。", "工具调用失败，输出已被截断。"],
    shown: "显示第 {from}-{to} 行，共 {total} 行。",
    partial: "第 {line} 行显示 {shown} 字节，共 {total} 字节。",
    saved: "完整输出已保存到：{path}",
    part: "其 {total} 字节的前 {head}、后 {tail} 字节已保存到：{path}",
    lost: "完整输出未能保存，也没有保留（{reason}）。",
    ceiling: "工具要求不作处理，但输出超过 {limit} 字节，因此仍被截断。",
    earlier: "该输出中包含先前输出的预览，其提示如下：",
    ended: [
        "命令运行超过 {ms} 毫秒，已被终止。如果它需要更长时间且不是在等待输入，请用更大的超时值（毫秒）重新运行。",
        "命令已被用户中止。",
        "命令已被中止。",
    ],
    ended_by_option: "命令运行超过 {limit}，已被终止。如果它需要更多时间且不是在等待输入，请用更大的 {option} 再次运行。",
    exit_code: "退出码：{code}",
    advice: Advice::Available([
        "可用 {tool} 搜索该文件。",
        "可用 {tool} 从该文件第 {line} 行继续读取。",
        "可用 {tool} 让子智能体处理该文件。",
    ]),
    compact: "... 输出已截断；完整输出已保存到 {path} ...",
    compact_part: "... 输出已截断；开头和结尾部分已保存到 {path} ...",
    is_compact: false,
};

/// The messages of OpenCode.
pub static OPENCODE: Wording = Wording {
    shown: "",
    advice: Advice::Fixed {
        plain: "Use Grep to search the full content or Read with offset/limit to view specific sections.",
        delegate: Some(
            "Use the Task tool to have an explore agent process this file with Grep and Read (offset/limit). \
             Do not read the whole file yourself: delegate to save context.",
        ),
    },
    compact: "... output truncated; full content saved to {path} ...",
    is_compact: true,
    ..ENGLISH
};

/// The messages of Takumi, which does not state the outcome of the call.
pub static TAKUMI: Wording = Wording {
    outcome: ["", ""],
    lost: "(Failed to save full output to file)",
    advice: Advice::Fixed {
        plain: "Use Grep to search the full content or Read with offset/limit to view specific sections.",
        delegate: None,
    },
    is_compact: false,
    ..OPENCODE
};

/// The messages of Moryflow, which suggests running the command again if saving failed.
pub static MORYFLOW: Wording = Wording {
    lost: "The full output could not be saved and was not kept ({reason}). Retry the command if you need it.",
    ..ENGLISH
};

pub(super) static ALL: [&Wording; 5] = [&ENGLISH, &CHINESE, &OPENCODE, &TAKUMI, &MORYFLOW];
