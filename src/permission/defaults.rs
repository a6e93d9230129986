//! The default rules, and the profiles.

use serde::Deserialize;

use super::pattern::{Style, escaped};
use super::rules::Rule;
use super::{Decision, Domain};
use crate::error::Result;

/// Names of profiles.
pub const PROFILES: [(&str, Profile); 2] =
    [("opencode", Profile::Opencode), ("moryflow", Profile::Moryflow)];

/// Profiles that decide as another system does, except for its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// `*` crosses `/`; everything is allowed but files with secrets and paths outside of the vault.
    Opencode,
    /// The table of its document, in its order.
    Moryflow,
}

/// The choices that the default rules depend on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Choices {
    /// True if edits outside of the vault are asked about instead of denied.
    pub ask_outside_edit: bool,
    /// Servers whose tools are allowed.
    pub mcp_servers: Vec<String>,
    /// Directories of temporary files, in which edits are asked about.
    pub temp_folders: Vec<String>,
    /// Directories that may be read and edited like the vault.
    pub scratch_folders: Vec<String>,
}

/// The pattern under which the rule for files with secrets is reported.
pub const SENSITIVE: &str = "**/{.env,.env.*,*.pem,*.key}";

/// Returns the default rules in order.
pub fn rules(profile: Option<Profile>, choices: &Choices, style: &Style) -> Result<Vec<Rule>> {
    use Decision::{Allow, Ask, Deny};
    use Domain::{Bash, Edit, Mcp, Read, Tool, WebFetch, WebSearch};
    let outside = if choices.ask_outside_edit { Ask } else { Deny };
    let table: &[(Domain, &str, Decision)] = match profile {
        None | Some(Profile::Moryflow) => &[
            (Read, "vault:**", Allow),
            (Read, "fs:**", Ask),
            (Edit, "vault:**", Allow),
            (Edit, "fs:**", outside),
            (Bash, "shell:*", Ask),
            (WebFetch, "url:**", Allow),
            (WebSearch, "query:*", Allow),
            (Mcp, "mcp:**", Ask),
            (Tool, "tool:*", Ask),
        ],
        Some(Profile::Opencode) => &[
            (Read, "vault:**", Allow),
            (Read, "fs:**", Ask),
            (Edit, "vault:**", Allow),
            (Edit, "fs:**", Ask),
            (Bash, "shell:*", Allow),
            (WebFetch, "url:**", Allow),
            (WebSearch, "query:*", Allow),
            (Mcp, "mcp:**", Allow),
            (Tool, "tool:*", Allow),
        ],
    };
    let built_in = |(domain, pattern, decision): &(Domain, &str, Decision)| {
        Rule::built_in(*domain, pattern, *decision, style)
    };
    let mut rules: Vec<Rule> = table.iter().map(built_in).collect();
    let mut add = |option: &str, domain, pattern: String, decision| -> Result<()> {
        rules.push(Rule::by_default(domain, &pattern, decision, style, option)?);
        Ok(())
    };
    let below = |folder: &String| {
        format!("{}/**", escaped(&format!("fs:{}", folder.trim_end_matches('/'))))
    };
    for folder in &choices.temp_folders {
        add("tempFolders", Edit, below(folder), Ask)?;
    }
    for folder in &choices.scratch_folders {
        add("scratchFolders", Read, below(folder), Allow)?;
        add("scratchFolders", Edit, below(folder), Allow)?;
    }
    // The specific ones come after the general one, because the last match counts.
    for server in &choices.mcp_servers {
        let name = escaped(&format!("mcp:{}", server.replace('/', "%2F")));
        add("mcpServers", Mcp, format!("{name}/**"), Allow)?;
    }
    Ok(rules)
}

/// Denied under all rules: commands that destroy a machine and are never a step of a task. The analysis of commands
/// reports other spellings under one of these texts.
pub const HARD_DENIES: [(Domain, &str); 13] = [
    // With any spelling of its options, and with further arguments.
    (Domain::Bash, "rm -* / *"),
    (Domain::Bash, "rm -* /\\* *"),
    (Domain::Bash, "rm *--no-preserve-root*"),
    (Domain::Bash, "mkfs* /dev/*"),
    (Domain::Bash, "truncate /etc/passwd"),
    (Domain::Bash, "chmod -R 777 /"),
    (Domain::Bash, ":(){ :|:& };:"),
    (Domain::Bash, "kill -9 -1"),
    (Domain::Bash, "shutdown now"),
    (Domain::Bash, "iptables -F INPUT FORWARD OUTPUT"),
    (
        Domain::Edit,
        "fs:/dev/{block,sd,hd,vd,xvd,nvme,mmcblk,md,dm-,loop,disk,rdisk,mapper,mem}*{,/**}",
    ),
    (Domain::Edit, "fs:/boot/**"),
    (Domain::Edit, "fs:/proc/sysrq-trigger"),
];
