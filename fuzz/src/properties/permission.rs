//! Any command and any patterns give a decision; the same call gets the same one; and one more deny rule never allows
//! more.

use std::borrow::Cow;

use serde_json::{Value, json};
use spillway_core::error::Code;
use spillway_core::permission::Decision;
use spillway_core::permission::evaluate::{Policy, Request};
use spillway_core::permission::paths::RealPaths;

use super::input::Input;

/// A file system in which a few names are symlinks.
struct Links;

impl RealPaths for Links {
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        match path {
            _ if path.ends_with("/nowhere") => None,
            _ if path.ends_with("/link") => Some("/etc/secret".into()),
            _ => Some(path.into()),
        }
    }

    fn names(&self, _: &str, limit: usize) -> Vec<(String, bool)> {
        let names = [("a", false), ("link", true), ("nowhere", true)];
        names.iter().take(limit).map(|(name, is_link)| ((*name).to_owned(), *is_link)).collect()
    }
}

const DOMAINS: [&str; 7] = ["bash", "read", "edit", "web_fetch", "web_search", "mcp", "*"];
const DECISIONS: [&str; 3] = ["allow", "ask", "deny"];
const TOOLS: [&str; 8] =
    ["bash", "bash", "bash", "read", "edit", "apply_patch", "grep", "mcp__server__tool"];

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let (full_access, hard, tool) = (input.flag(), input.flag(), input.pick(&TOOLS));
    let rules: Vec<Value> = (0..input.below(5)).filter_map(|_| rule(&mut input)).collect();
    let Some(mut ban) = rule(&mut input) else { return };
    ban["decision"] = json!("deny");
    let text = String::from_utf8_lossy(input.rest());
    let args = match tool {
        "bash" => json!({ "command": text }),
        "apply_patch" => json!({ "patch": text }),
        "grep" => json!({ "pattern": "x", "include": text }),
        _ => json!({ "path": text }),
    };
    let call = |headless: bool| -> Request {
        let request = json!({
            "tool": tool, "args": args, "vault": "/home/u/vault",
            "fullAccess": full_access, "headless": headless,
        });
        serde_json::from_value(request).expect("a call is read")
    };

    let policy = policy(json!({ "home": "/home/u", "rules": rules }));
    let verdict = policy.evaluate(&call(false), &Links);
    assert_eq!(verdict, policy.evaluate(&call(false), &Links), "not the same twice");
    let headless = policy.evaluate(&call(true), &Links).decision;
    let expected =
        if verdict.decision == Decision::Ask { Decision::Deny } else { verdict.decision };
    assert_eq!(headless, expected, "no person can be asked");

    let stricter = if hard {
        json!({ "home": "/home/u", "rules": rules, "hardDeny": [ban] })
    } else {
        {
            let all = [rules, vec![ban]].concat();
            json!({ "home": "/home/u", "rules": all })
        }
    };
    let banned = self::policy(stricter).evaluate(&call(false), &Links).decision;
    assert!(banned >= verdict.decision, "a ban allows more: {:?} {banned:?}", verdict.decision);
}

/// Reads a rule; an invalid one is refused with a field.
fn rule(input: &mut Input<'_>) -> Option<Value> {
    let (domain, decision, length) =
        (input.pick(&DOMAINS), input.pick(&DECISIONS), input.below(48));
    let pattern = String::from_utf8_lossy(input.take(length)).into_owned();
    let rule = json!({ "domain": domain, "pattern": pattern, "decision": decision });
    match Policy::new(&json!({ "rules": [rule] })) {
        Ok(_) => Some(rule),
        Err(error) => {
            assert_eq!(error.code, Code::InvalidConfig, "{error}");
            assert!(error.field.is_some_and(|field| field.starts_with("rules[0]")));
            None
        }
    }
}

fn policy(options: Value) -> Policy {
    Policy::new(&options).expect("rules that can be used make a policy")
}
