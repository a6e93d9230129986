//! Decisions about calls of tools. A policy stays in the binary; calls and verdicts cross as JSON.

use std::sync::Mutex;

use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde_json::{Value, json};
use spillway_core::permission::evaluate::{Policy, Request};
use spillway_core::permission::real_path::FileSystem;

use crate::error::{Result, from_core};
use crate::json::{json as written, parse};
use crate::lock::lock;

/// A policy of one caller.
pub type PolicyHandle = External<Mutex<Policy>>;

/// Reads the options of a policy.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn permission_open(options: String) -> Result<PolicyHandle> {
    let policy = Policy::new(&parse::<Value>(&options)?).map_err(from_core)?;
    Ok(External::new(Mutex::new(policy)))
}

/// Decides about a call. Links are followed in the file system; nothing is changed there. What is known of each target
/// is most of an answer: it is written only if it is asked for.
#[napi(catch_unwind)]
pub fn permission_evaluate(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    request: String,
    with_details: bool,
) -> Result<String> {
    let request: Request = parse(&request)?;
    let policy = lock(policy);
    let mut verdict = policy.evaluate(&request, &FileSystem::default());
    if !with_details {
        verdict.details.clear();
    }
    Ok(written(&verdict))
}

/// Remembers an answer, for a session or for everybody.
#[napi(catch_unwind)]
pub fn permission_approve(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    rule: String,
    session: Option<String>,
) -> Result<()> {
    let rule: Value = parse(&rule)?;
    lock(policy).approve(&rule, session).map_err(from_core)
}

/// Forgets an answer; `false` if there was none.
#[napi(catch_unwind)]
pub fn permission_revoke(
    #[napi(ts_arg_type = "object")] policy: &PolicyHandle,
    domain: String,
    pattern: String,
    session: Option<String>,
) -> bool {
    lock(policy).revoke(&domain, &pattern, session.as_deref())
}

/// What was approved, and the rules that can never count, as JSON.
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
