//! Bindings of permission. A policy stays in the native module; calls and verdicts are passed as JSON.

use std::sync::Mutex;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde::Serialize;
use serde_json::{Value, json};
use spillway_core::permission::evaluate::{Policy, Request};
use spillway_core::permission::real_path::FileSystem;
use spillway_core::permission::rules::ReportedRule;
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::json::{json as written, parse};

/// A policy of one caller.
pub type PolicyHandle = External<Mutex<Policy>>;

/// Reads the options of a policy.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn permission_open(options: String) -> Result<PolicyHandle> {
    let policy = Policy::new(&parse::<Value>(&options)?).map_err(from_core)?;
    Ok(External::new(Mutex::new(policy)))
}

/// Decides about a call. Symlinks are followed in the file system; nothing is changed. The result is an array of the
/// members of a verdict in order, with rules given by their indexes: objects take V8 most of a microsecond longer to
/// read.
#[napi(catch_unwind)]
pub fn permission_evaluate(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    request: String,
) -> Result<String> {
    lock(policy).answer(&request, &FileSystem::default(), |policy, real| {
        let verdict = policy.evaluate(&parse::<Request>(&request)?, real);
        Ok(written(&(
            verdict.decision,
            verdict.domain,
            verdict.targets,
            verdict.rule.map(Said::from),
            verdict.shadowed.into_iter().map(Said::from).collect::<Vec<_>>(),
            verdict.reasons,
            verdict.suggested_rules,
            verdict.details,
            verdict.addresses,
        )))
    })
}

/// Returns the rule at an index, as JSON.
#[napi(catch_unwind)]
pub fn permission_rule(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    place: u32,
) -> Option<String> {
    lock(policy).rule(place as usize).map(|rule| written(&rule))
}

/// A rule in a result: its index, or the whole rule if it has none.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Place(usize),
    Whole(ReportedRule<'a>),
}

impl<'a> From<ReportedRule<'a>> for Said<'a> {
    fn from(rule: ReportedRule<'a>) -> Self {
        rule.place.map_or(Said::Whole(rule), Said::Place)
    }
}

/// Stores an approval, for a session or for all of them.
#[napi(catch_unwind)]
pub fn permission_approve(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    rule: String,
    session: Option<String>,
) -> Result<()> {
    let rule: Value = parse(&rule)?;
    lock(policy).approve(&rule, session).map_err(from_core)
}

/// Removes an approval; returns `false` if there was none.
#[napi(catch_unwind)]
pub fn permission_revoke(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    domain: String,
    pattern: String,
    session: Option<String>,
) -> bool {
    lock(policy).revoke(&domain, &pattern, session.as_deref())
}

/// Returns the approvals, and the rules that can never apply, as JSON.
#[napi(catch_unwind)]
pub fn permission_facts(#[napi(ts_arg_type = "object")] policy: &PolicyHandle) -> String {
    let policy = lock(policy);
    let approvals: Vec<Value> = policy
        .approvals()
        .into_iter()
        .map(|(session, rule)| json!({ "sessionId": session, "rule": rule }))
        .collect();
    let dead: Vec<Value> = policy
        .dead_rules()
        .into_iter()
        .map(|(rule, by)| json!({ "rule": rule, "hiddenBy": by }))
        .collect();
    json!({ "approvals": approvals, "dead": dead }).to_string()
}
