//! Permission: whether a tool call is allowed, asked about, or denied.
//!
//! A call has targets (`vault:/a.md`, `shell:git status`), a rule decides about the targets that its pattern matches,
//! and the strictest decision about any target is the decision about the call. Within a list of rules the last match
//! counts; without a match the user is asked. A call that is not understood is asked about, never allowed.
//!
//! | module | contents |
//! | --- | --- |
//! | [`pattern`] | matching of targets by patterns |
//! | [`glob_overlap`] | the overlap of two globs |
//! | [`rules`] | a list of rules: which one counts, which ones it overrides, whether their examples hold |
//! | [`restrictions`] | the rules that ask about or deny something in particular |
//! | [`paths`] | paths inside and outside of the vault |
//! | [`places`] | directories, disks and files that a machine cannot do without |
//! | [`sensitive`] | names of files with secrets |
//! | [`hosts`] | private and local addresses |
//! | [`targets`] | the targets of a call; the names of tools and arguments are in [`crate::tools`] |
//! | [`patch`] | the files that a patch names |
//! | [`shell`] | the programs, files and paths of a command |
//! | [`defaults`] | the default rules, and the profiles |
//! | [`options`] | the options of a policy |
//! | [`evaluate`] | the decision and its reasons |
//! | [`decision_cache`] | a cache of decisions |
//! | [`suggestions`] | rules that would make the same question unnecessary |
//! | [`reading_calls`] | calls that certainly change nothing |
//! | [`real_path`] | resolving a path in the file system; the only input and output of the module |
//!
//! ```
//! use std::borrow::Cow;
//!
//! use serde_json::json;
//! use spillway_core::permission::Decision;
//! use spillway_core::permission::evaluate::Policy;
//! use spillway_core::permission::paths::RealPaths;
//!
//! /// A file system without symbolic links.
//! struct NoLinks;
//!
//! impl RealPaths for NoLinks {
//!     fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
//!         Some(path.into())
//!     }
//!
//!     fn names(&self, _: &str, _: usize) -> Vec<(String, bool)> {
//!         Vec::new()
//!     }
//! }
//!
//! let policy = Policy::new(&json!({ "rules": [{ "domain": "bash", "pattern": "git *", "decision": "allow" }] }))?;
//! let decide = |command: &str| -> Result<Decision, serde_json::Error> {
//!     let request = json!({ "tool": "bash", "args": { "command": command }, "vault": "/vault" });
//!     Ok(policy.evaluate(&serde_json::from_value(request)?, &NoLinks).decision)
//! };
//! assert_eq!(decide("git status")?, Decision::Allow);
//! // The option runs a program that the rule does not name.
//! assert_eq!(decide("git -c core.pager=./evil log")?, Decision::Ask);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub mod reading_calls;
pub mod real_path;
mod restrictions;
pub mod rules;
pub mod sensitive;
pub mod shell;
pub mod suggestions;
pub mod targets;

/// The kind of access that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Yields content or names of files.
    Read,
    /// Changes files: write, edit, move, delete.
    Edit,
    /// Runs commands.
    Bash,
    /// Fetches a URL.
    WebFetch,
    /// Sends a query to a search engine.
    WebSearch,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Calls a tool of which only the name is known.
    Tool,
}

/// All domains by their public names.
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
    /// Returns true if its targets are paths.
    pub fn is_of_files(self) -> bool {
        matches!(self, Domain::Read | Domain::Edit)
    }

    /// Returns the schemes of targets of this domain.
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

    /// Returns the public name.
    pub fn as_str(self) -> &'static str {
        DOMAINS.iter().find(|(_, domain)| *domain == self).map_or("", |(name, _)| name)
    }
}

/// A decision, ordered from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The user must be asked.
    Ask,
    /// The call must not run.
    Deny,
}

impl Decision {
    /// Returns the public name.
    pub fn as_str(self) -> &'static str {
        DECISIONS.iter().find(|(_, decision)| *decision == self).map_or("", |(name, _)| name)
    }
}

/// All decisions by their public names.
pub const DECISIONS: [(&str, Decision); 3] =
    [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];
