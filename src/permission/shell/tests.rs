use super::*;

fn folders() -> Folders {
    Folders {
        vault: "/vault".into(),
        real_vault: None,
        cwd: "/vault".into(),
        home: Some("/home/u".into()),
        windows: false,
        fold_case: false,
    }
}

fn reading(command: &str) -> Reading {
    let names = SensitiveNames::new(&[".env".to_owned()]).unwrap();
    read(
        command,
        &folders(),
        "/vault",
        &names,
        RuleKinds { read_only: true, ..RuleKinds::default() },
    )
}

/// Formats commands, with `?` after one that raises a concern, and quiet ones in parentheses.
fn commands(command: &str) -> Vec<String> {
    let told = |one: &AnalyzedCommand| {
        let text = format!("{}{}", one.text, if one.concerns.is_empty() { "" } else { " ?" });
        if one.quiet { format!("({text})") } else { text }
    };
    reading(command).commands.iter().map(told).collect()
}

fn files(command: &str) -> Vec<String> {
    let told = |one: &FileUse| format!("{} {}", one.domain.as_str(), one.path);
    reading(command).files.iter().map(told).collect()
}

#[test]
fn what_would_keep_the_parser_for_years_is_a_concern_at_once() {
    let deep = format!("g/{}; ls", "(".repeat(60));
    let [whole] = reading(&deep).commands.try_into().unwrap();
    assert_eq!((whole.text, whole.concerns.len()), (deep, 1));
}

#[test]
fn what_the_parser_would_panic_at_is_a_concern() {
    for command in ["ls 99999999999>x", "99999\\\n99999<x ls", "ls 1>&2 2147483648>&1"] {
        let [whole] = reading(command).commands.try_into().unwrap();
        assert_eq!((whole.text.as_str(), whole.concerns.len()), (command, 1));
    }
    assert_eq!(reading("date 1234567890 >x; echo 123456789>y").commands.len(), 2);
}

#[test]
fn every_simple_command_is_found() {
    assert_eq!(
        commands("git status && npm test || echo no; ls | wc -l & pwd"),
        ["git status", "npm test", "echo no", "ls", "wc -l", "pwd"]
    );
    assert_eq!(commands("(cd a; ls) && { pwd; }"), ["(cd a)", "ls", "pwd"]);
    assert_eq!(
        commands("if true; then ls; else pwd; fi; while false; do date; done"),
        ["true", "ls", "pwd", "false", "date"]
    );
    assert_eq!(
        commands("for i in 1 2; do echo $i; done; case x in a) ls ;; *) pwd ;; esac"),
        ["echo 1", "echo 2", "ls", "pwd"]
    );
    assert_eq!(commands("! time ls"), ["ls", "(time ls)"]);
}

#[test]
fn words_are_read_without_their_quotes() {
    assert_eq!(commands("g'i't  \"status\""), ["git status"]);
    assert_eq!(commands("git commit -m 'a; b && c'"), ["git commit -m 'a; b && c'"]);
    // Quotes do not hide a substitution from bans where something is not understood: arithmetic would run it.
    assert_eq!(commands("git '$(evil)'"), ["git '$(evil)' ?", "(evil)"]);
    assert_eq!(commands("echo a\\ b \\\n c"), ["echo 'a b' c"]);
    assert_eq!(commands("echo 'it'\\''s'"), ["echo 'it'\\''s'"]);
    assert_eq!(commands("git show HEAD:f # a comment; evil"), ["git show HEAD:f"]);
}

#[test]
fn substitutions_are_commands() {
    assert_eq!(commands("echo $(evil)"), ["evil", "echo $(evil)"]);
    assert_eq!(commands("echo \"a `evil` b\""), ["evil", "echo \"a `evil` b\""]);
    assert_eq!(commands("diff <(evil a) <(evil b)")[..2], ["evil a", "evil b"]);
    assert!(commands("echo ${x:-$(evil)}").iter().any(|one| one.ends_with('?')));
    assert!(commands("echo $((a[$(evil)]))").iter().any(|one| one.ends_with('?')));
    assert!(commands("cat <<E\n$(evil)\nE").contains(&"evil".to_owned()));
}

#[test]
fn wrappers_are_taken_off() {
    assert_eq!(commands("timeout 5 npm test"), ["npm test", "(timeout 5 npm test)"]);
    assert_eq!(commands("bash -c 'ls; evil'"), ["ls", "evil", "(bash -c 'ls; evil')"]);
    assert_eq!(commands("NODE_ENV=test npm test"), ["npm test"]);
    assert_eq!(commands("PATH=x npm test"), ["PATH=x npm test ?"]);
    assert_eq!(
        commands("find . -name '*.ts' -exec grep foo {} +"),
        ["grep foo '{}'", "find . -name '*.ts' -exec grep foo '{}' +"]
    );
    assert_eq!(commands("ls | xargs rm"), ["ls", "rm ?", "(xargs rm)"]);
    assert_eq!(commands("sudo rm x"), ["(rm x)", "sudo rm x"]);
    assert_eq!(commands("x=1; a=b ls"), ["(x=1)", "a=b ls ?"]);
}

#[test]
fn files_are_found_where_they_really_are() {
    assert_eq!(files("echo a > out.txt 2>/dev/null"), ["edit /vault/out.txt"]);
    assert_eq!(files("cat < in.txt"), ["read /vault/in.txt"]);
    assert_eq!(
        files("cat .env ~/x '~/y'"),
        ["read /vault/.env", "read /home/u/x", "read /vault/~/y"]
    );
    assert_eq!(files("cd sub && cat a"), ["read /vault/sub", "read /vault/sub/a"]);
    assert_eq!(files("cd sub; cat a"), ["read /vault/sub", "read /vault/a", "read /vault/sub/a"]);
    assert_eq!(
        files("(cd sub && ls) && cat a"),
        ["read /vault/sub", "read /vault/sub", "read /vault/a"]
    );
    assert_eq!(files("rm -rf ../x"), ["edit /x"]);
    assert_eq!(files("cp a /b"), ["read /vault/a", "edit /b"]);
    for command in ["rsync -a a b", "rsync -a h:a b", "scp -r h:a b", "sftp h:a b"] {
        assert_eq!(files(command), ["edit /vault/b"], "{command}");
    }
    for command in ["rsync -a a h:b", "rsync a rsync://h/b", "rsync a", "scp a h:b", "sftp h"] {
        assert_eq!(files(command), Vec::<String>::new(), "{command}");
    }
    assert_eq!(files("grep -r foo src"), ["read /vault/src"]);
    assert_eq!(files("foo --env-file=.env"), ["read /vault/.env"]);
    assert_eq!(files("git show HEAD:.env"), ["read /vault/.env"]);
    assert_eq!(files("cat $HOME/x"), ["read /home/u/x"]);
    assert_eq!(files("sed -i s/a/b/ x"), ["read /vault/x", "edit /vault/x"]);
    assert_eq!(files("mv .env x"), ["read /vault/.env", "edit /vault/.env", "edit /vault/x"]);
    assert_eq!(files("echo \"$(<.env)\""), ["read /vault/.env"]);
    assert_eq!(files("dd if=/a of=/b"), ["read /a", "edit /b"]);
}

#[test]
fn what_is_not_understood_is_a_concern() {
    for command in [
        "$x",
        "ev?l",
        "{evil,x}",
        "~/evil",
        "$'\\x65vil'",
        "eval ls",
        "printf .env | xargs cat",
        "ls | xargs grep x",
        "source x",
        "alias ls=evil",
        "trap evil EXIT",
        "ls() { evil; }",
        "coproc ls",
        "git -c core.pager=evil log",
        "git foo",
        "git clone ext::sh",
        "tar --to-command=evil -xf a",
        "npm run x --script-shell=evil",
        "python3 -c x",
        "node -e x",
        "awk 'BEGIN{system(\"x\")}'",
        "sed 1e x",
        "ls\rfoo",
        "ls\u{a0}; x",
        "ls \u{ff1b} x",
        "echo '",
        "ls (",
        "git $x",
        "git *",
        "cat $x",
        "rg --pre evil x",
        "sort -o x y",
        "sort --compress-prog=x y",
        "vim -c x",
        "rsync -e x a b",
        "ssh -o ProxyCommand=x h",
        "env -S x",
        "exec -a x y",
        "((x))",
        "[[ -v a ]]",
        "let x",
        "printf -v x y",
        "export PATH=x",
        "PATH=x",
        "for PATH in x; do ls; done",
        "hash -p x y",
        "find . -delete",
        "find . -fprint x",
        "ls > $x",
        "ls > /dev/tcp/a/1",
        "bash x",
        "bash",
        "echo \"${x@P}\"",
        "python3 <<E\nE",
        "git commit <<E\n:!evil\nE",
        "git apply - <<E\nE",
        "{ bash; } <<E\nE",
        "cat <<E\n${x@P}\nE",
        "cat <<'E'\nx\\\nE",
        "echo \"$(cat <<E\n(\nE\nevil\n)\"",
        "echo \"$(cat <<E\n)\nE\nevil\nE\n)\"",
        "cat <<'E F'\nx\nE F",
        "echo \"$(cat <<'E'\n)\"; evil; echo \"(\nE\n)\"",
        "git commit -m $(cat)",
        "git -m \"$(cat)\"",
        "git commit -m \"$@\"",
        "git merge -s evil x",
        "git init --bare x",
        "sed -i'../b*' s/a/b/ f",
        "sed --in-place=../b s/a/b/ f",
    ] {
        let found = commands(command);
        assert!(
            found.iter().any(|one| one.ends_with('?') || one.ends_with("?)")),
            "{command}: {found:?}"
        );
    }
}

#[test]
fn bans_see_through_what_is_not_understood() {
    let others = |command: &str| {
        let all = reading(command).commands.into_iter();
        all.flat_map(|one| one.others.into_iter().chain([one.text])).collect::<Vec<_>>()
    };
    assert!(others("/bin/rm -rf x").contains(&"rm -rf x".to_owned()));
    assert!(others("PATH=x rm y").contains(&"rm y".to_owned()));
    assert!(others("strace rm y").contains(&"rm y".to_owned()));
    for command in [
        "zsh -c 'rm y'",
        "bash -ic 'ls; rm y'",
        "env -S 'rm y'",
        "su -c 'rm y'",
        "ssh h 'rm y'",
        "tar --to-command='rm y' -xf a",
        "git rebase -x 'rm y'",
        "bash <<< 'rm y'",
        "bash <<E\nrm y\nE",
        "RM y",
    ] {
        let found = others(command);
        assert!(found.iter().any(|one| one.ends_with("rm y")), "{command}: {found:?}");
    }
    for command in ["rm / -rf", "rm -r //", "rm -rf /tmp/..", "cd / && rm -r *", "find / -delete"] {
        assert!(others(command).contains(&"rm -rf /".to_owned()), "{command}");
    }
    for told in others("git commit -m 'rm -rf /'; rm -r x/*; echo 'rm y'") {
        assert!(told != "rm -rf /" && !told.ends_with("rm y"), "{told}");
    }
}

#[test]
fn long_and_deep_texts_end_quickly() {
    let long = "a".repeat(200_000);
    assert_eq!(reading(&long).commands[0].concerns[0].reason, "the command is too long to be read");
    for (open, close) in [
        ("(", ")"),
        ("{ ", ";}"),
        ("$(", ")"),
        ("if ls; then ", "; fi"),
        ("`", "`"),
        ("[[ ", " ]]"),
        ("<(", ")"),
        ("case a in a) ", ";; esac"),
    ] {
        for depth in [50, 190, 20_000] {
            let text = format!("echo x; {}ls{}", open.repeat(depth), close.repeat(depth));
            reading(&text);
        }
    }
    let many = "ls;".repeat(40_000);
    let read = reading(&many).commands;
    assert!(read.len() < 40_000, "the budget ends a text of 40,000 commands");
    assert!(read.iter().any(|command| !command.concerns.is_empty()), "and the rest is asked about");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in ".{0,60}") {
        reading(&text);
    }

    #[test]
    fn any_mixture_of_operators_is_read(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "ls", " ", "\n", ";", "&&", "|", "$(", ")", "(", "{", "}", "`", "'", "\"", "\\", "<<E", "\nE\n", ">", "<", "&", "$", "${", "x", "=", "[[", "]]", "if", "then", "fi", "*", "#", "!", "do", "done", "((", "))", "case", "in", "esac", ";;", "é", "$'"
    ]), 0..40)) {
        reading(&pieces.concat());
    }
}

/// Words with multi-byte parts, and nearly empty words.
const ODD_WORDS: [&str; 22] = [
    "''",
    "®",
    "®®",
    "-®",
    "--®",
    "-®=®",
    "--®=®",
    "+®",
    "/®",
    "~®",
    "~/®",
    "®=®",
    "=®",
    "@®",
    "-i®",
    "-s®",
    "s®a®b®",
    "{®}",
    "[®]",
    "®*",
    "-",
    "--",
];

#[test]
fn every_program_is_read_with_words_of_several_bytes() {
    let rows = include_str!("programs.txt").lines().filter(|line| !line.starts_with('#'));
    let tabled = rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split(' '));
    // Others are named in the code: those that destroy, wrap, or are read by a grammar of their own.
    let named = [
        "*", "rm", "dd", "mkfs", "chmod", "chown", "chgrp", "chattr", "setfacl", "kill", "mv",
        "cp", "find", "fd", "shred", "truncate", "wipefs", "sgdisk", "parted", "icacls", "takeown",
        "env", "nice", "timeout", "xargs", "busybox", "sudo", "sh", "bash", "eval", "trap",
        "source", "set", "unset", "export", "declare", "read", "git", "gh", "sed", "awk", "jq",
        "tr", "base64", "xxd", "printf", "echo", "cd", "pushd", "tar", "rsync", "docker",
        "python3", "perl", "node",
    ];
    let mut options: Vec<String> = ODD_WORDS.iter().map(|word| (*word).to_owned()).collect();
    options.push(ODD_WORDS.join(" "));
    for name in tabled.chain(named).filter(|name| !name.is_empty()) {
        for word in &options {
            for command in [
                format!("{name} {word}"),
                format!("{name} {word} ® x"),
                format!("{name} -s {word}"),
                format!("{name} x {word} | sh"),
                format!("env A=® {name} {word}"),
            ] {
                reading(&command);
            }
        }
    }
}

#[test]
fn a_program_of_a_folder_is_not_the_one_of_its_name() {
    assert_eq!(commands("./env ls"), ["ls", "./env ls"]);
    assert_eq!(commands("ENV ls"), ["ls", "ENV ls"]);
    assert_eq!(commands("/usr/bin/env ls"), ["ls", "(/usr/bin/env ls)"]);
    assert_eq!(commands("./export x=1; ./set -e"), ["./export x=1", "./set -e"]);
    assert_eq!(files("./cd .. && cat x"), ["read /", "read /vault/x"]);
}

#[test]
fn a_folder_that_may_not_be_entered_is_not_left() {
    for command in [
        "cd a && ls; ls > ../x",
        "cd a && ls\nls > ../x",
        "cd a && ls || ls > ../x",
        "cd a && ls & ls > ../x",
        "! cd a && ls > ../x",
        "cd b || cd a && ls > ../x",
        "(cd a && ls; ls > ../x)",
    ] {
        assert!(files(command).contains(&"edit /x".to_owned()), "{command}: {:?}", files(command));
    }
    assert!(!files("cd a && cd b && ls > ../x").contains(&"edit /x".to_owned()));
}

#[test]
fn a_document_that_is_only_kept_or_told_is_no_concern() {
    assert_eq!(commands("cat <<'E' > a\n$(evil) `b` it's\nE"), ["cat"]);
    assert_eq!(files("tee a <<E\nx\nE"), ["edit /vault/a"]);
    let commit = |body: &str| format!("git commit -m \"$(cat <<'E'\n{body}\nE\n)\"");
    for body in ["don't", "(all of it)", "`code` and $HOME", "say \"it\""] {
        let found = commands(&commit(body));
        assert!(found.iter().all(|one| !one.ends_with('?')), "{found:?}");
    }
    assert_eq!(commands("git commit -F - <<E\nx\nE"), ["git commit -F -"]);
}

#[test]
fn braces_are_several_words_where_a_shell_says_so() {
    assert_eq!(commands("mkdir -p src/{a,b}/{c,d}")[0].matches("src/").count(), 4);
    assert_eq!(commands("cp a{,.bak}"), ["cp a a.bak"]);
    assert_eq!(commands("git log @{u}.. HEAD@{1}"), ["git log '@{u}..' 'HEAD@{1}'"]);
    for command in ["ls {a,b", "ls {'}',b}", "ls {1..9}", "ls {a,{b,c}}", "ls {\"a,b\"}"] {
        assert!(commands(command)[0].ends_with('?') || !command.ends_with('}'), "{command}");
    }
}

#[test]
fn git_is_recognised_by_the_files_it_is_given() {
    assert_eq!(files("git mv a .git/hooks/b"), ["edit /vault/a", "edit /vault/.git/hooks/b"]);
    assert_eq!(files("git worktree add -f .git/hooks x")[0], "edit /vault/.git/hooks");
    assert_eq!(files("git clone https://h/x a"), ["edit /vault/a"]);
    assert_eq!(files("git clone --depth 1 git@h:x"), Vec::<String>::new());
    for command in
        ["git commit -aF/x/y", "git blame -S /x/y f", "git am -m /x/y", "git clone file:///x/y a"]
    {
        assert_eq!(files(command)[0], "read /x/y", "{command}");
    }
    assert_eq!(files("git commit -F.env -aF.env"), ["read /vault/.env", "read /vault/.env"]);
    assert_eq!(files("git show ':(icase).en?'"), ["read /vault/.en?"]);
    assert_eq!(files("git commit -am '/x .env' && git log --grep /x -S /x"), Vec::<String>::new());
}

#[test]
fn the_target_of_a_copy_can_stand_in_an_option() {
    for command in ["cp -at/x a", "cp -t /x a", "cp --target-directory=/x a", "mv -ft/x a"] {
        assert!(files(command).contains(&"edit /x".to_owned()), "{command}: {:?}", files(command));
    }
    assert!(files("cp -rt.. a").contains(&"edit /".to_owned()));
    assert_eq!(files("cut -d/ -f1 a"), ["read /vault/a"]);
}

/// The stack size of threads under musl.
const SMALL_STACK: usize = 128 * 1024;

#[test]
fn a_small_stack_is_enough_for_whatever_is_nested() {
    let openers = [
        "(",
        "{ ",
        "$(",
        "`",
        "\"$(",
        "${x:-",
        "<(",
        "((",
        "$((",
        "[[ ! ",
        "[[ ( ",
        "! ",
        "if ",
        "while ",
        "until ",
        "for i in a; do ",
        "case x in x) ",
        "f() { ",
        "function f { ",
        "coproc ",
        "time ",
        "env ",
        "sudo ",
        "nice ",
        "xargs ",
        "find . -exec ",
        "sh -c ",
        "sh -c '",
        "eval ",
        "env -S ",
        "watch ",
        "parallel ",
        "git -C a ",
        "npx ",
        "a | ",
        "a && ",
        "a; ",
        "{a,",
        "\\",
        "x=$(",
        "echo $(",
        "cat <<E\n$(",
        "python -m ",
        "uv run ",
        "su -c \"",
    ];
    let mut commands = Vec::new();
    for opener in openers {
        for times in [4, 8, 9, 200] {
            commands.push(opener.repeat(times) + "ls");
        }
    }
    let pairs = openers
        .iter()
        .zip(1..)
        .flat_map(|(a, at)| openers.iter().skip(at % 7).step_by(7).map(move |b| [*a, *b].concat()));
    commands.extend(pairs.map(|pair| pair.repeat(4) + "ls"));
    // Each in the others, with all that is closed again.
    let nested = |times: usize| {
        let open = "if x; then ( { sudo env nice sh -c 'a' && echo \"$(".repeat(times);
        [&open, "ls", &")\"; }); fi".repeat(times)].concat()
    };
    commands.extend([1, 2, 4, 8, 16, 32].map(nested));
    let quoted = |depth: usize| {
        (0..depth).fold("ls".to_owned(), |text, _| format!("sudo env sh -c {}", quoted(&text)))
    };
    commands.extend((1..8).map(quoted));
    let names = SensitiveNames::usual();
    let work = move || {
        for command in commands {
            let _ = read(
                &command,
                &folders(),
                "/vault",
                &names,
                RuleKinds { files: true, edits: true, programs: true, read_only: true },
            );
        }
    };
    std::thread::Builder::new().stack_size(SMALL_STACK).spawn(work).unwrap().join().unwrap();
}
