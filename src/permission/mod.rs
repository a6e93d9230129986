//! Whether a call of a tool may run, must be asked for, or may not run.
//!
//! A call names targets (`vault:/a.md`, `shell:git status`), a rule says what holds for the targets that its pattern
//! matches, and the strictest answer for any target is the answer for the call. Within a list of rules the last match
//! counts; where none matches, somebody is asked. What is not understood is asked, never allowed.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`pattern`] | which targets a pattern matches |
//! | [`rules`] | a list of rules: which one counts, which ones it hides, whether their examples hold |
//! | [`paths`] | where a path lies: in the vault or outside |
//! | [`places`] | which folders, disks and files a machine cannot do without |
//! | [`sensitive`] | which names are those of files with secrets |
//! | [`hosts`] | which addresses are private or local |
//! | [`targets`] | what a call of a tool touches; the names of tools and arguments are in [`tool_table`] |
//! | [`patch`] | the files that a patch names |
//! | [`shell`] | what a command runs, reads and writes |
//! | [`defaults`] | the rules before anybody writes one, and the profiles |
//! | [`evaluate`] | the decision and its reasons |
//! | [`repeated`] | whether the answer to a call is known already |
//! | [`suggestions`] | which rules would make the same question unnecessary |
//! | [`real_path`] | where the file system says that a path leads; the only input and output in here |

use serde::{Deserialize, Serialize};

mod decision_cache;
pub mod defaults;
pub mod evaluate;
mod glob_overlap;
pub mod hosts;
mod options;
mod patch;
pub mod paths;
pub mod pattern;
mod places;
pub mod real_path;
pub mod rules;
pub mod sensitive;
pub mod shell;
pub mod suggestions;
pub mod targets;
mod tool_table;

/// What kind of access a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Yields content or names of files.
    Read,
    /// Changes files: write, edit, move, delete.
    Edit,
    /// Runs commands.
    Bash,
    /// Fetches an address.
    WebFetch,
    /// Sends a query to a search engine.
    WebSearch,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Calls a tool of which no more is known than its name.
    Tool,
}

/// All domains, by their public names.
pub const DOMAINS: [(&str, Domain); 7] = [
    ("read", Domain::Read),
    ("edit", Domain::Edit),
    ("bash", Domain::Bash),
    ("web_fetch", Domain::WebFetch),
    ("web_search", Domain::WebSearch),
    ("mcp", Domain::Mcp),
    ("tool", Domain::Tool),
];

impl Domain {
    /// Whether its targets are paths.
    pub fn is_of_files(self) -> bool {
        matches!(self, Domain::Read | Domain::Edit)
    }

    /// The schemes that targets of this domain begin with.
    pub fn schemes(self) -> &'static [&'static str] {
        match self {
            Domain::Read | Domain::Edit => &["vault", "fs"],
            Domain::Bash => &["shell"],
            Domain::WebFetch => &["url"],
            Domain::WebSearch => &["query"],
            Domain::Mcp => &["mcp"],
            Domain::Tool => &["tool"],
        }
    }

    /// The public name.
    pub fn as_str(self) -> &'static str {
        DOMAINS.iter().find(|(_, domain)| *domain == self).map_or("", |(name, _)| name)
    }
}

/// What holds for a target, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// Somebody must be asked.
    Ask,
    /// It may not run.
    Deny,
}

/// All decisions, by their public names.
pub const DECISIONS: [(&str, Decision); 3] =
    [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
