//! Suggests rules that would make the same question unnecessary, narrowest first.

use serde::Serialize;

use super::pattern::{MAX_PATTERN_BYTES, escaped, split_scheme};
use super::{Decision, Domain};

/// A rule that may be stored as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    pub domain: Domain,
    pub pattern: String,
    /// Always a permission.
    pub decision: Decision,
}

/// Returns rules for one target. `wide` allows rules that cover more than the target itself.
pub fn suggest(domain: Domain, target: &str, wide: bool) -> Vec<Suggestion> {
    let mut patterns = vec![escaped(target)];
    let (scheme, body) = split_scheme(target);
    if let (Some(scheme), true) = (scheme, wide) {
        match domain {
            Domain::Read | Domain::Edit => {
                if let Some((folder, _)) = body.rsplit_once('/')
                    && !(folder.is_empty() && scheme == "fs")
                {
                    patterns.push(format!("{}/**", escaped(&format!("{scheme}:{folder}"))));
                }
            }
            Domain::Bash => {
                let program = body.split(' ').next().unwrap_or(body);
                patterns.push(format!("{} *", escaped(&format!("shell:{program}"))));
            }
            Domain::WebFetch => {
                let end =
                    body.find("//").and_then(|at| body[at + 2..].find('/').map(|end| at + 2 + end));
                let host = &body[..end.unwrap_or(body.len())];
                patterns.push(format!("{}/**", escaped(&format!("url:{host}"))));
            }
            Domain::WebSearch | Domain::Tool => {}
            Domain::Mcp => {
                if let Some((server, _)) = body.split_once('/') {
                    patterns.push(format!("{}/**", escaped(&format!("mcp:{server}"))));
                }
            }
        }
    }
    patterns.retain(|pattern| pattern.len() <= MAX_PATTERN_BYTES);
    patterns.dedup();
    patterns
        .into_iter()
        .map(|pattern| Suggestion { domain, pattern, decision: Decision::Allow })
        .collect()
}
