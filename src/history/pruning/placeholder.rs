//! Placeholders for pruned items. Short, because they are paid for in every request; and they say how to get the
//! content back.

use super::policies::Kind;
use crate::fs::file_names::is_partial;

/// Facts about an item for its placeholder.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Kind of the item.
    pub kind: Kind,
    /// True if the call certainly changed nothing: the placeholder invites to make it again.
    pub repeatable: bool,
    /// Where the full output was saved.
    pub path: Option<&'a str>,
    /// The index of the result.
    pub words: Option<&'a str>,
}

/// Returns the placeholder of a result or of an argument, in English or Chinese.
pub fn placeholder(about: About<'_>, chinese: bool) -> String {
    let About { kind, repeatable, path, words } = about;
    let mut text = without_index(kind, repeatable, chinese, path);
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        // Before the closing bracket.
        text.pop();
        text.push_str(if chinese { "。其中有：" } else { ". It had: " });
        text.push_str(words);
        text.push(']');
    }
    text
}

fn without_index(kind: Kind, repeatable: bool, chinese: bool, path: Option<&str>) -> String {
    match (kind, chinese, path) {
        (Kind::Result, false, None) if repeatable => {
            "[Old result left out; call the tool again to see it]".into()
        }
        (Kind::Result, false, Some(path)) if is_partial(path) => {
            format!("[Old result left out; its first and last parts are in {path}]")
        }
        (Kind::Result, false, Some(path)) => {
            format!("[Old result left out; all of it is in {path}]")
        }
        (Kind::Result, false, None) => {
            "[Old result left out; its call has already been made]".into()
        }
        (Kind::Result, true, None) if repeatable => {
            "[旧的工具结果已略去，如需查看请重新调用]".into()
        }
        (Kind::Result, true, None) => "[旧的工具结果已略去，该调用已经执行过]".into(),
        (Kind::Result, true, Some(path)) if is_partial(path) => {
            format!("[旧的工具结果已略去，开头和结尾部分见 {path}]")
        }
        (Kind::Result, true, Some(path)) => format!("[旧的工具结果已略去，全文见 {path}]"),
        (Kind::Arguments, false, _) => "[Long argument left out]".into(),
        (Kind::Arguments, true, _) => "[较长的参数已略去]".into(),
    }
}
