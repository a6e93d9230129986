use super::*;
use serde_json::json;

fn all(name: &str, args: Value) -> Vec<UnresolvedTarget> {
    touched(name, &args, &[], &["git__hub".into()])
}

#[test]
fn every_argument_that_is_known_counts() {
    let path = |text: &str| UnresolvedTarget::Path(Domain::Read, text.into());
    assert_eq!(
        all("read", json!({ "path": "a", "file_path": "/etc/passwd" })),
        [path("a"), path("/etc/passwd")]
    );
    assert_eq!(all("ReadManyFiles", json!({ "paths": ["a", "b"] })), [path("a"), path("b")]);
    assert_eq!(all("read_files", json!({ "files": [{ "path": "a" }] })), [path("a")]);
    assert_eq!(
        all("read", json!({ "path": 1 })),
        [UnresolvedTarget::Unreadable(Domain::Read, "path".into())]
    );
    assert_eq!(
        all("read_files", json!({ "files": [{ "path": "a", "file_path": "/b" }] })),
        [path("a"), path("/b")]
    );
    assert_eq!(
        all("read_files", json!({ "files": [{ "path": "a", "file_path": 1 }] })),
        [path("a"), UnresolvedTarget::Unreadable(Domain::Read, "files".into())]
    );
    assert_eq!(all("read", json!({ "path": "a", "workdir": "/etc" })), [path("a"), path("/etc/a")]);
    assert_eq!(
        all("write", json!({ "path": "/a", "cwd": ["/etc"] })),
        [
            UnresolvedTarget::Path(Domain::Edit, "/a".into()),
            UnresolvedTarget::Unreadable(Domain::Edit, "cwd".into())
        ]
    );
    assert_eq!(all("read", json!({})), []);
    assert_eq!(all("deploy", json!({ "path": "a" })), [UnresolvedTarget::Tool(false)]);
    let own = |tool: Tool, args: Value| touched("plan", &args, &[("Plan".into(), tool)], &[]);
    let reads = Tool { domain: Domain::Read, shape: Shape::Paths, keys: Vec::new() };
    assert_eq!(own(Tool::NONE, json!({ "path": "a" })), [UnresolvedTarget::Tool(true)]);
    assert_eq!(own(reads.clone(), json!({ "todos": [] })), [UnresolvedTarget::Tool(false)]);
    assert_eq!(own(reads, json!({ "path": "a" })), [path("a")]);
    assert_eq!(all("ls", json!({})), [UnresolvedTarget::Folder(Domain::Read, ".".into())]);
}

#[test]
fn every_tool_is_known_by_what_it_touches_or_by_its_name_alone() {
    let args = json!({
        "path": "a", "source": "a", "destination": "b", "pattern": "*", "command": "ls", "url": "https://a.b", "query": "q",
        "patch": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
    });
    for (_, shape, names) in tools::TABLE {
        for name in *names {
            let found = all(name, args.clone());
            let is_by_name = found == [UnresolvedTarget::Tool(false)];
            assert_eq!(is_by_name, shape.is_none(), "{name}: {found:?}");
        }
    }
    let known = tools::TABLE.iter().flat_map(|(_, _, names)| *names);
    let changes = |name: &&&str| tools::kind(name) == Some(Kind::Edit);
    for name in known.filter(changes) {
        assert_eq!(find(name, &[]).map(|tool| tool.domain), Some(Domain::Edit), "{name}");
    }
}

#[test]
fn what_tools_hand_on_is_read() {
    let read = |text: &str| UnresolvedTarget::Path(Domain::Read, text.into());
    let edit = |text: &str| UnresolvedTarget::Path(Domain::Edit, text.into());
    let source = UnresolvedTarget::Unreadable(Domain::Read, "source".into());
    let destination = UnresolvedTarget::Unreadable(Domain::Edit, "destination".into());
    for (name, args, expected) in [
        (
            "move",
            json!({ "source": ".env", "destination": "x" }),
            vec![read(".env"), edit("x"), edit(".env")],
        ),
        (
            "rename_file",
            json!({ "path": "a", "newName": "b" }),
            vec![read("a"), edit("b"), edit("a")],
        ),
        ("copy_file", json!({ "from": "a", "to": "b" }), vec![read("a"), edit("b")]),
        ("move_file", json!({ "was": "a", "to": "b" }), vec![source.clone(), edit("b")]),
        ("copy_file", json!({ "source": "a" }), vec![read("a"), destination.clone()]),
        ("move", json!({}), vec![source, destination]),
        (
            "str_replace_based_edit_tool",
            json!({ "command": "view", "path": ".env" }),
            vec![read(".env")],
        ),
        ("str_replace_editor", json!({ "command": "create", "path": ".env" }), vec![edit(".env")]),
        ("str_replace_editor", json!({ "path": ".env" }), vec![edit(".env")]),
    ] {
        assert_eq!(all(name, args), expected, "{name}");
    }
}

#[test]
fn globs_lie_below_their_folder() {
    assert_eq!(
        all("glob", json!({ "pattern": "**/*.md" })),
        [UnresolvedTarget::Names { folder: None, glob: "**/*.md".into() }]
    );
    assert_eq!(
        all("grep", json!({ "pattern": "x", "include": ".env", "path": "a" }))[0],
        UnresolvedTarget::Names { folder: Some("a".into()), glob: ".env".into() }
    );
    assert_eq!(
        all("grep", json!({ "pattern": "x" })),
        [UnresolvedTarget::Path(Domain::Read, ".".into())]
    );
}

#[test]
fn commands_come_as_texts_and_as_words() {
    let text = |text: &str| UnresolvedTarget::Command { text: text.into(), cwd: None };
    assert_eq!(all("bash", json!({ "command": "ls" })), [text("ls")]);
    assert_eq!(
        all("shell", json!({ "command": ["git", "commit", "-m", "a; b"] })),
        [text("git commit -m 'a; b'")]
    );
    assert_eq!(
        all("run_command", json!({ "command": "git", "args": ["log", "x y"] })),
        [text("git log 'x y'")]
    );
    assert_eq!(
        all("run_command", json!({ "command": "ls", "args": ["a", "; evil"] })),
        [text("ls a '; evil'"), text("ls a ; evil")]
    );
    assert_eq!(
        all("shell", json!({ "commands": ["ls", "evil"] })),
        [text("ls evil"), text("ls"), text("evil")]
    );
    assert_eq!(all("bash", json!("ls")), [text("ls")]);
    for harmless in [json!({}), json!(null), json!(false), json!("")] {
        assert_eq!(all("exec", json!({ "command": "ls", "env": harmless })), [text("ls")]);
    }
    assert_eq!(all("exec", json!({ "cmd": "ls", "shell": "/bin/bash" })), [text("ls")]);
    for (key, value) in [
        ("env", json!({ "PATH": "/tmp/evil" })),
        ("environment", json!(["LD_PRELOAD=/tmp/x.so"])),
        ("shell", json!("/tmp/evil")),
        ("shell", json!("/tmp/bash")),
        ("elevated", json!(true)),
        ("with_escalated_permissions", json!(true)),
    ] {
        let found = all("exec", json!({ "command": "ls", key: value }));
        assert_eq!(found, [UnresolvedTarget::Powerful(key.into()), text("ls")]);
    }
    assert_eq!(all("bash", json!({ "command": "ls", "workdir": "../x" })).len(), 2);
    let blind = |found: Vec<UnresolvedTarget>| {
        found.iter().any(|one| matches!(one, UnresolvedTarget::Unreadable(Domain::Bash, _)))
    };
    for key in ["cwd", "workdir", "working_dir", "workingDir", "dir", "folder", "root", "path"] {
        let found = all("bash", json!({ "command": "ls", key: "/etc" }));
        assert_eq!(found[0], UnresolvedTarget::Path(Domain::Read, "/etc".into()), "{key}");
        assert!(!blind(found), "{key}");
        for other in [json!("/x"), json!(null), json!(1), json!(["/etc"])] {
            let key = if key == "cwd" { "workdir" } else { key };
            let args = json!({ "command": "ls", "cwd": "/etc", key: other });
            assert!(blind(all("bash", args)), "{key} {other}");
        }
    }
    assert!(!blind(all("bash", json!({ "command": "ls", "cwd": "a/", "workdir": "./a" }))));
    assert!(!blind(all("bash", json!({ "command": "ls", "cwd": null }))));
}

#[test]
fn tools_of_servers_and_of_the_user() {
    assert_eq!(all("mcp:fs/read", json!({})), [UnresolvedTarget::Mcp("fs/read".into())]);
    assert_eq!(all("mcp__fs__read__x", json!({})), [UnresolvedTarget::Mcp("fs/read__x".into())]);
    assert_eq!(all("mcp__git__hub__x", json!({})), [UnresolvedTarget::Mcp("git__hub/x".into())]);
    assert_eq!(
        all("mcp:fs/a/../../x", json!({})),
        [UnresolvedTarget::Mcp("fs/a%2F..%2F..%2Fx".into())]
    );
    let own = [(
        "open_note".to_owned(),
        Tool { domain: Domain::Read, shape: Shape::Paths, keys: vec!["note".into()] },
    )];
    assert_eq!(
        touched("openNote", &json!({ "note": "a", "path": "b" }), &own, &[]),
        [UnresolvedTarget::Path(Domain::Read, "a".into())]
    );
}

#[test]
fn a_patch_names_its_files() {
    let patch =
        "*** Begin Patch\n*** Update File: a.ts\n*** Move to: ../b.ts\n@@\n-x\n+y\n*** End Patch";
    assert_eq!(all("apply_patch", json!({ "input": patch })).len(), 3);
    assert_eq!(all("apply_diff", json!({ "diff": "--- a/x\n+++ b/x\n", "path": "x" })).len(), 3);
    assert_eq!(
        all("apply_patch", json!({ "patch": "nothing" })),
        [UnresolvedTarget::Unreadable(Domain::Edit, "patch".into())]
    );
}
