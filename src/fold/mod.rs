//! Folding: when a result first enters the context, lines that an earlier result of the session contains verbatim are replaced by
//! a pointer. Nothing that was sent before changes, so prompt caches and signatures stay valid.
//!
//! | module | contents |
//! | --- | --- |
//! | [`line`] | the text of a line without its number, and the form of the number |
//! | [`index`] | the lines in the context, in bounded memory |
//! | [`window_table`] | the last place of four lines in a row |
//! | [`guards`] | lines that are never folded |
//! | [`spans`] | runs of lines that are replaced |
//! | [`hits`] | lines that begin with the same path, under that path once |
//! | [`shown_files`] | files that a call shows or writes |
//! | [`label`] | the name of a target in a pointer |
//!
//! A fold is lossless: [`unfold`] restores the text from the folded one, its edits and the results that they refer to.
//!
//! ```
//! use spillway_core::fold::{Fold, Given, Options, unfold};
//!
//! let file: String = (0..40).map(|at| format!("const value{at} = compute({at})\n")).collect();
//! let mut fold = Fold::new(Options::default());
//! let given = Given { id: 0, tool: "read", args: r#"{"path":"a.ts"}"#, ..Given::default() };
//! assert!(fold.fold(&file, &given).edits.is_empty());
//!
//! // The same lines again become a pointer to the first result, from which they are restored.
//! let edits = fold.fold(&file, &Given { id: 1, ..given }).edits;
//! let mut shown = file.clone();
//! for edit in edits.iter().rev() {
//!     shown.replace_range(edit.from..edit.to, &edit.text);
//! }
//! assert!(shown.len() < file.len() / 4);
//! let whole = unfold(&shown, &edits, |id| (id == 0).then_some(file.as_str()));
//! assert_eq!(whole.as_deref(), Some(file.as_str()));
//! ```

mod guards;
mod hits;
mod index;
mod label;
mod line;
mod shown_files;
mod spans;
mod window_table;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::truncation::smart::rules::Rules;
use std::hash::BuildHasher;

use index::{Beside, Index, Keys};
use line::Lines;
use shown_files::ShownFiles;

/// Limits of a fold.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Options {
    /// Lines that a run has at least.
    pub min_lines: usize,
    /// Bytes that a run has at least.
    pub min_bytes: usize,
    /// Bytes that the index takes at most.
    pub max_index_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { min_lines: 8, min_bytes: 300, max_index_bytes: 8 * 1024 * 1024 }
    }
}

/// A result or an argument of a call on its way into the context.
#[derive(Debug, Clone, Default)]
pub struct Given<'a> {
    /// The host's number of it, which edits name.
    pub id: u32,
    /// The host's number of the call; for a result, equal to `id`.
    pub call: u32,
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments of the call as JSON; empty if they are not known or too long.
    pub args: &'a str,
    /// It is known but never folded.
    pub protected: bool,
    /// It is what the model wrote: its own argument.
    pub argument: bool,
    /// Lines with one of these texts stay.
    pub keep: &'a [String],
    /// Lines that a run of this text has at least, in place of those of the options.
    pub min_lines: Option<usize>,
    /// The same in bytes.
    pub min_bytes: Option<usize>,
    /// Texts with this number or a later one came in while the call ran: they may stand above or below it.
    pub since: Option<u32>,
    /// The [labels] of the calls that ran at the same time.
    pub beside: &'a [String],
    /// Lines that the model does not see: the first one, and the one after the last. For a text that is in the context already.
    pub hidden: &'a [(usize, usize)],
}

/// How the lines of a run are numbered, where they are not exactly the lines that they repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Numbering {
    /// Without numbers.
    None,
    /// One after the other from the number of this mark.
    From(u32),
}

/// A stretch of a text that is shown otherwise. Lines count from 0 and end before `to_line`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// First line of the text.
    pub from_line: usize,
    /// The line after the last one.
    pub to_line: usize,
    /// Where it begins in UTF-16 units.
    pub from: usize,
    /// Where it ends in UTF-16 units, before the last line break.
    pub to: usize,
    /// The text in its place.
    pub text: String,
    /// Lines of another result that it repeats; none for lines that are put under their path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Lines of a result or an argument in view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The host's number of it.
    pub id: u32,
    /// Its first line, from 0.
    pub line: usize,
    /// How the lines are numbered; nothing: as they are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbering: Option<Numbering>,
}

/// The result of a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Folded {
    /// The replaced stretches, in order.
    pub edits: Vec<Edit>,
    /// The calls that pointers count between them and their targets: without one of these they name another call than they mean.
    pub counts: Vec<u32>,
}

/// The lines that a session has in view.
pub struct Fold {
    options: Options,
    index: Index,
    rules: std::sync::Arc<Rules>,
}

impl Fold {
    /// An empty index.
    pub fn new(options: Options) -> Self {
        let index = Index::new(options.max_index_bytes);
        Fold { options, index, rules: Rules::built_in() }
    }

    /// Returns what of a text is replaced, and remembers what of it is shown.
    pub fn fold(&mut self, text: &str, given: &Given<'_>) -> Folded {
        let lines = Lines::of(text.as_bytes(), self.index.hasher());
        let args = parsed(given.args);
        let files = ShownFiles::of(given.tool, &args);
        let keys = self.keys(given, &files);
        let arguments = label::of_arguments(given.tool, &args);
        let labels = given.beside.iter().map(String::as_str).collect();
        let beside = Beside { since: given.since, labels };
        // The model wrote its arguments before it sees the result.
        self.index.count(&arguments, given.call);
        let label = if given.argument { arguments } else { label::of_result(given.tool, &args) };
        let is_ambiguous = beside.labels.contains(&*label);
        let edits = if given.protected || given.argument {
            Vec::new()
        } else {
            self.edits(text, &lines, given, &files, (keys, &beside))
        };
        let targets = edits.iter().filter_map(|edit| edit.target).map(|target| target.id).collect();
        let counts = self.index.counted(&targets);
        let hidden = match is_ambiguous {
            // Its name may mean the other call.
            true => vec![(0, lines.len())],
            false => {
                let replaced = edits.iter().map(|edit| (edit.from_line, edit.to_line));
                let end = lines.len();
                let known = given.hidden.iter().map(|&(from, to)| (from.min(end), to.min(end)));
                let mut hidden: Vec<_> = replaced.chain(known).collect();
                hidden.sort_unstable();
                hidden
            }
        };
        self.index.add((given.id, given.call), label, keys, lines, hidden);
        Folded { edits, counts }
    }

    /// Counts a call whose texts are too short to be pointed to: the model sees it between a pointer and an earlier call of its name.
    /// Returns false if no pointer can name such a call.
    pub fn count(&mut self, call: u32, tool: &str, args: &str) -> bool {
        labels(tool, args).map(|label| self.index.count(&label, call)).contains(&true)
    }

    /// Returns the keys of the text that this one is compared with closely: the last result of the same call, else the last text of the same file.
    fn keys(&self, given: &Given<'_>, files: &ShownFiles) -> Keys {
        let hasher = self.index.hasher();
        let call = (!given.argument && !given.args.is_empty())
            .then(|| hasher.hash_one((given.tool, given.args)));
        Keys { call, file: files.single().map(|path| hasher.hash_one(path)) }
    }

    fn edits(
        &mut self,
        text: &str,
        lines: &Lines<'_>,
        given: &Given<'_>,
        files: &ShownFiles,
        (keys, beside): (Keys, &Beside<'_>),
    ) -> Vec<Edit> {
        let find = spans::Find {
            lines,
            min_lines: given.min_lines.unwrap_or(self.options.min_lines),
            min_bytes: given.min_bytes.unwrap_or(self.options.min_bytes),
            rules: (!files.are_source()).then_some(&*self.rules),
            keep: given.keep,
            beside,
        };
        let mut edits = find.edits(&mut self.index, keys);
        if hits::may_have(given.tool, given.args) {
            hits::add(lines, given.keep, &mut edits);
        }
        line::measure(text, lines, &mut edits);
        edits
    }

    /// Forgets texts that left the context. With `calls_stay`, their calls are still in view and still count.
    pub fn forget(&mut self, ids: &[u32], calls_stay: bool) {
        self.index.forget(&ids.iter().copied().collect(), calls_stay);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.index.clear();
    }

    /// Bytes that the index takes, and lines that it knows.
    pub fn size(&self) -> (usize, usize) {
        (self.index.bytes(), self.index.lines())
    }
}

/// The names that pointers have for the arguments and for the result of a call.
pub fn labels(tool: &str, args: &str) -> [String; 2] {
    let args = parsed(args);
    [label::of_arguments(tool, &args), label::of_result(tool, &args)]
}

/// The arguments of a call; nothing where they are not known.
fn parsed(args: &str) -> Value {
    serde_json::from_str(args).unwrap_or_default()
}

/// Returns the lines of a target as the text that repeats them has them, joined; nothing if it has fewer lines.
pub fn lines_of(target: &str, at: &Target, count: usize) -> Option<String> {
    let lines: Vec<&str> = target.split('\n').skip(at.line).take(count).collect();
    (lines.len() == count).then(|| line::renumbered(&lines, at.numbering))
}

/// Returns the text that was folded. `text_of` gives the texts that edits name.
pub fn unfold<'a>(
    folded: &str,
    edits: &[Edit],
    text_of: impl Fn(u32) -> Option<&'a str>,
) -> Option<String> {
    let mut out: Vec<String> = Vec::new();
    let mut shown = folded.split('\n');
    let mut line = 0;
    for edit in edits {
        for _ in line..edit.from_line {
            out.push(shown.next()?.to_owned());
        }
        let replaced: Vec<&str> = shown.by_ref().take(edit.text.split('\n').count()).collect();
        let count = edit.to_line - edit.from_line;
        match &edit.target {
            Some(target) => out.push(lines_of(text_of(target.id)?, target, count)?),
            None => out.extend(hits::ungroup(&replaced)?),
        }
        line = edit.to_line;
    }
    out.extend(shown.map(str::to_owned));
    Some(out.join("\n"))
}
