use proptest::prelude::*;
use serde_json::{Value, json};

use super::edit::edit;
use super::load::{Found, inline_node, lint, load};

fn loaded(text: &str, inline: Option<&Value>) -> Value {
    let inline = inline.map(Value::to_string);
    let json = load("c.jsonc", Found::Text(text), inline.as_deref()).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn change(text: &str, patch: &Value) -> String {
    edit(text, &inline_node(&patch.to_string()).unwrap()).unwrap()
}

#[test]
fn an_invalid_field_is_reported_with_its_position_and_the_rest_is_used() {
    let text = "{\n  \"agents\": { \"runtime\": {\n    \"truncation\": { \"maxLines\": 0, \"maxBytes\": 10 },\n    \"mode\": { \"global\": \"ask\" } } },\n  \"theme\": 1\n}";
    let loaded = loaded(text, None);
    assert_eq!(
        loaded["config"],
        json!({ "agents": { "runtime": { "truncation": { "maxBytes": 10 }, "mode": { "default": "agent" } } }, "theme": 1 })
    );
    let [problem] = loaded["problems"].as_array().unwrap().as_slice() else { panic!("{loaded}") };
    assert_eq!((problem["line"].as_u64(), problem["column"].as_u64()), (Some(3), Some(33)));
    assert_eq!(problem["path"], "agents.runtime.truncation.maxLines");
    assert_eq!(loaded["options"]["truncation"], json!({ "maxBytes": 10 }));
}

#[test]
fn a_size_may_have_a_unit_and_becomes_a_number() {
    let with = |size: &str| {
        loaded(
            &format!(
                r#"{{ "agents": {{ "runtime": {{ "truncation": {{ "maxBytes": {size} }} }} }} }}"#
            ),
            None,
        )
    };
    for (size, bytes) in
        [("51200", 51200), ("\"50k\"", 51200), ("\"1.5 MiB\"", 0), ("\"2MiB\"", 2_097_152)]
    {
        let loaded = with(size);
        if bytes > 0 {
            assert_eq!(loaded["options"]["truncation"], json!({ "maxBytes": bytes }), "{size}");
            assert_eq!(loaded["problems"], json!([]), "{size}");
        } else {
            let message = loaded["problems"][0]["message"].as_str().unwrap();
            assert!(message.contains("or a size such as \"50k\""), "{message}");
            assert!(message.ends_with(r#"received "1.5 MiB""#), "{message}");
        }
    }
}

#[test]
fn a_rule_that_cannot_be_read_closes_its_domain() {
    let rules = |rules: &str| {
        format!(r#"{{ "agents": {{ "runtime": {{ "permission": {{ "rules": {rules} }} }} }} }}"#)
    };
    let closed = |text: &str| loaded(text, None)["options"]["permission"]["failClosed"].clone();
    assert_eq!(
        closed(&rules(r#"[{"domain":"bash","pattern":"rm *","decision":"dney"}]"#)),
        json!(["bash"])
    );
    assert_eq!(
        closed(&rules(r#"[{"domain":"bsah","pattern":"rm *","decision":"deny"}]"#))
            .as_array()
            .unwrap()
            .len(),
        7
    );
    assert_eq!(closed(&rules("3")).as_array().unwrap().len(), 7);
    assert_eq!(closed("{ broken").as_array().unwrap().len(), 7);
    assert_eq!(closed(&rules("[]")), Value::Null);
    assert_eq!(closed("{}"), Value::Null);
}

#[test]
fn rules_follow_each_other_and_fields_replace() {
    let rule = |pattern: &str| json!({ "domain": "bash", "pattern": pattern, "decision": "allow" });
    let at = |rules: Value, lines: u64| json!({ "agents": { "runtime": { "permission": { "rules": rules }, "truncation": { "maxLines": lines } } } });
    let loaded = loaded(&at(json!([rule("a")]), 1).to_string(), Some(&at(json!([rule("b")]), 2)));
    assert_eq!(loaded["options"]["permission"]["rules"], json!([rule("a"), rule("b")]));
    assert_eq!(loaded["options"]["truncation"]["maxLines"], 2);
    assert_eq!(loaded["sources"]["agents.runtime.permission.rules[0]"], "user");
    assert_eq!(loaded["sources"]["agents.runtime.permission.rules[1]"], "inline");
    assert_eq!(loaded["sources"]["agents.runtime.truncation.maxLines"], "inline");
}

#[test]
fn an_invalid_smart_rule_is_reported_with_its_position_and_the_others_are_used() {
    let text = r#"{
  "agents": { "runtime": { "truncation": {
    "strategy": "smart",
    "smartRules": [
      { "words": ["quota "], "weight": 990, "pattern": "^quota (exceeded|left)" },
      { "words": ["flaky"], "weight": 1001 },
      { "words": ["a"], "weight": 5 },
      { "words": ["flaky"], "weight": 5, "pattern": "(" },
      { "words": ["flaky"], "wieght": 5 },
      7
    ]
  } } }
}"#;
    let found = loaded(text, None);
    let rules =
        json!([{ "words": ["quota "], "weight": 990, "pattern": "^quota (exceeded|left)" }]);
    assert_eq!(found["options"]["truncation"], json!({ "strategy": "smart", "smartRules": rules }));
    let problems: Vec<(&str, u64, u64)> = found["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let path = it["path"].as_str().unwrap();
            let path = path.strip_prefix("agents.runtime.truncation.smartRules").expect(path);
            (path, it["line"].as_u64().unwrap(), it["column"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(
        problems,
        [
            ("[1].weight", 6, 39),
            ("[2].words[0]", 7, 18),
            ("[3].pattern", 8, 53),
            ("[4].wieght", 9, 39),
            ("[5]", 10, 7),
        ]
    );
    for value in ["{}", "\"error\""] {
        let text = format!(
            r#"{{"agents":{{"runtime":{{"truncation":{{"smartRules":{value},"strategy":"samrt"}}}}}}}}"#
        );
        let found = loaded(&text, None);
        assert_eq!(found["options"]["truncation"], json!({}), "{found}");
        assert_eq!(found["problems"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn an_invalid_file_name_is_reported_with_its_position_and_the_others_are_used() {
    let of = |names: &str| {
        let text = format!(
            r#"{{ "agents": {{ "runtime": {{ "permission": {{ "sensitiveFiles": {names} }} }} }} }}"#
        );
        let found = loaded(&text, None);
        let paths: Vec<(String, u64)> = found["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["path"].as_str().unwrap().to_owned(), it["column"].as_u64().unwrap()))
            .collect();
        (found["options"]["permission"].clone(), paths)
    };
    let path = |end: &str| format!("agents.runtime.permission.sensitiveFiles{end}");
    let (options, paths) = of(r#"[".env", "*a*", "b", "a/b", 5]"#);
    assert_eq!(options, json!({ "sensitiveFiles": [".env", "b"], "failClosed": ["read"] }));
    assert_eq!(paths, [(path("[1]"), 71), (path("[3]"), 83), (path("[4]"), 90)]);
    let (options, paths) = of(r#"[".env", "!"]"#);
    assert_eq!((options, paths.len()), (json!({ "sensitiveFiles": [".env"] }), 1));
    let (options, _) = of(r#""*.pem""#);
    assert_eq!(options["failClosed"].as_array().unwrap().len(), 7);
}

#[test]
fn both_layers_together_have_no_more_rules_than_a_policy_takes() {
    let rule = json!({ "domain": "bash", "pattern": "a", "decision": "deny" });
    let layer = |rules: usize| json!({ "agents": { "runtime": { "permission": { "rules": vec![&rule; rules] } } } });
    let found = loaded(&layer(9000).to_string(), Some(&layer(1001)));
    let options = &found["options"]["permission"];
    assert_eq!(options["rules"].as_array().unwrap().len(), 10_000);
    assert_eq!(options["failClosed"].as_array().unwrap().len(), 7);
    assert_eq!(found["problems"][0]["layer"], "inline");
    let found = loaded(&layer(9000).to_string(), Some(&layer(1000)));
    assert_eq!(found["problems"], json!([]));
}

#[test]
fn a_misplaced_key_is_reported() {
    let rules = r#"{"rules":[{"domain":"bash","pattern":"rm *","decision":"deny"}]}"#;
    let permission = format!(r#""permission":{rules}"#);
    for (text, meant, lost) in [
        (format!("{{{permission}}}"), "agents.runtime.permission", true),
        (format!(r#"{{"Agents":{{"runtime":{{{permission}}}}}}}"#), "agents", true),
        (format!(r#"{{"agent":{{"runtime":{{{permission}}}}}}}"#), "agents", true),
        (format!(r#"{{"agents":{{{permission}}}}}"#), "agents.runtime.permission", true),
        (format!(r#"{{"agents":{{"Runtime":{{{permission}}}}}}}"#), "agents.runtime", true),
        (format!(r#"{{"runtime":{{{permission}}}}}"#), "agents.runtime", true),
        (r#"{"Agents":{}}"#.to_owned(), "agents", false),
        (r#"{"permission.rules":[]}"#.to_owned(), "agents.runtime.permission.rules", false),
        (
            r#"{"agents.runtime.truncation.maxLines":5}"#.to_owned(),
            "agents.runtime.truncation.maxLines",
            false,
        ),
        (r#"{"doomloop":{"maxToolCalls":5}}"#.to_owned(), "agents.runtime.doomLoop", false),
    ] {
        let found = loaded(&text, None);
        let [problem] = found["problems"].as_array().unwrap().as_slice() else { panic!("{found}") };
        let message = problem["message"].as_str().unwrap();
        assert!(message.ends_with(&format!("did you mean {meant}?")), "{message}");
        assert_eq!(problem["line"], 1, "{text}");
        assert_eq!(problem["severity"], if lost { "error" } else { "warning" }, "{text}");
        assert_eq!(found["options"]["permission"]["failClosed"].is_array(), lost, "{text}");
    }
    for text in [
        r#"{"theme":{"mode":"dark"},"agent":{"name":"x"},"permission":{"edit":"ask"},"truncation":false}"#,
        r#"{"agents":{"coder":{"model":"x"},"rules":[]},"compaction":{"auto":true},"a.b":1}"#,
    ] {
        assert_eq!(loaded(text, None)["problems"], json!([]), "{text}");
    }
}

#[test]
fn misspelt_names_of_what_restricts_are_errors() {
    for (text, lost) in [
        (r#""permision":{"rules":[]}"#, true),
        (r#""permission":{"rule":[]}"#, true),
        (r#""permission":{"sensitivefiles":["*.pem"]}"#, true),
        (r#""permission":{"mcpServer":["docs"]}"#, false),
        (r#""truncatoin":{"maxLines":5}"#, false),
    ] {
        let found = loaded(&format!(r#"{{"agents":{{"runtime":{{{text}}}}}}}"#), None);
        let severity = if lost { "error" } else { "warning" };
        assert_eq!(found["problems"][0]["severity"], severity, "{text}");
        assert_eq!(found["options"]["permission"]["failClosed"].is_array(), lost, "{text}");
    }
}

#[test]
fn the_stronger_layer_switches_truncation() {
    let (off, on, top) =
        (r#""truncation":false"#, r#""truncation":true"#, |inside: &str| format!("{{{inside}}}"));
    let set = r#""agents":{"runtime":{"truncation":{"maxLines":5}}}"#;
    let both = format!("{off},{set}");
    let inside = |switch: &str| format!(r#"{{"agents":{{"runtime":{{{switch}}}}}}}"#);
    for (user, inline, is_off) in [
        (top(off), None, true),
        (top(&both), None, true),
        (top(off), Some(top(set)), false),
        (top(set), Some(top(off)), true),
        (inside(off), Some(top(on)), false),
        (inside(on), Some(top(off)), true),
        (top(off), Some(top(r#""theme":1"#)), true),
        (top(set), Some(inside(off)), true),
        (inside(off), Some(top(set)), false),
        (format!("{{{off},{}", &inside(on)[1..]), None, false),
    ] {
        let inline: Option<Value> =
            inline.as_deref().map(|text: &str| serde_json::from_str(text).unwrap());
        let found = loaded(&user, inline.as_ref());
        assert_eq!(found["options"]["truncation"] == json!(false), is_off, "{user} {inline:?}");
    }
}

#[test]
fn comments_and_formatting_survive() {
    let text = "// mine\r\n{\r\n\t\"theme\": \"dark\", // keep\r\n\t\"agents\": { \"runtime\": { \"mode\": { /* m */ \"global\": \"ask\" } } },\r\n}\r\n";
    let after = change(
        text,
        &json!({ "agents": { "runtime": { "mode": { "default": "full_access" }, "truncation": { "maxLines": 5 } } } }),
    );
    for kept in
        ["// mine\r\n", "\"theme\": \"dark\", // keep", "/* m */ \"global\": \"full_access\""]
    {
        assert!(after.contains(kept), "{after}");
    }
    assert!(!after.replace("\r\n", "").contains('\n'), "{after:?}");
    assert_eq!(change(&after, &json!({ "none": null })), after);
    assert_eq!(change("", &json!({ "a": 1 })), "{\n  \"a\": 1\n}\n");
    assert_eq!(change("{\r\n} // end", &json!({ "a": 1 })), "{\r\n  \"a\": 1\r\n} // end");
    assert_eq!(change("// c\r\n", &json!({ "a": 1 })), "// c\r\n{\r\n  \"a\": 1\r\n}\r\n");
}

#[test]
fn a_file_that_is_broken_is_not_changed() {
    let patch = inline_node(r#"{"a":1}"#).unwrap();
    for text in ["{", "[1]", "{\"a\":\0}", "3"] {
        assert!(edit(text, &patch).is_err(), "{text}");
    }
    let wrong = inline_node(r#"{"agents":{"runtime":{"truncation":{"maxLines":0}}}}"#).unwrap();
    assert_eq!(
        edit("{}", &wrong).unwrap_err().field.as_deref(),
        Some("agents.runtime.truncation.maxLines")
    );
}

#[test]
fn rules_that_never_count_and_false_examples_are_found() {
    let rules = json!([
        { "domain": "bash", "pattern": "git status", "decision": "allow" },
        { "domain": "bash", "pattern": "git *", "decision": "ask" },
        { "domain": "bash", "pattern": "ls *", "decision": "allow", "examples": { "match": ["cat x"] } },
    ]);
    let config = json!({ "agents": { "runtime": { "permission": { "rules": rules }, "truncation": { "maxLine": 1 } } } });
    let found: Vec<(&str, String)> =
        lint(&config.to_string()).unwrap().into_iter().map(|one| (one.kind, one.path)).collect();
    let path = |end: &str| format!("agents.runtime.{end}");
    assert!(found.contains(&("shadowed", path("permission.rules[0]"))), "{found:?}");
    assert!(
        found.contains(&("example", path("permission.rules[2].examples.match[0]"))),
        "{found:?}"
    );
    assert!(found.contains(&("unknown", path("truncation.maxLine"))), "{found:?}");
    assert_eq!(found.len(), 3);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]|__proto__", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn merge_patch(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut out = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            out.remove(key);
        } else {
            let before = out.get(key).cloned().unwrap_or(Value::Null);
            out.insert(key.clone(), merge_patch(&before, value));
        }
    }
    Value::Object(out)
}

proptest! {
    #[test]
    fn any_edits_are_merge_patches_and_keep_comments(edits in prop::collection::vec(prop::collection::btree_map("[abcd]", any_value(), 0..4), 1..6)) {
        let mut text = "// top\n{\n  // first\n  \"keep\": 1, /* inside */\n  \"list\": [1, 2 /* two */, 3],\n}\n// end\n".to_owned();
        let mut expected = json!({ "keep": 1, "list": [1, 2, 3] });
        for one in edits {
            let patch = Value::Object(one.into_iter().collect());
            text = change(&text, &patch);
            expected = merge_patch(&expected, &patch);
            prop_assert_eq!(super::edit::content(&text).unwrap().value(), expected.clone());
            for comment in ["// top\n", "// first\n", "/* inside */", "/* two */", "// end\n"] {
                prop_assert!(text.contains(comment), "{}", text);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,80}|[{}\\[\\]\",:/* a0-]{0,60}") {
        let _ = load("c", Found::Text(&text), None);
        let _ = edit(&text, &inline_node(r#"{"a":[1]}"#).unwrap());
    }
}
