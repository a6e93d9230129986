use proptest::prelude::*;

use super::*;

fn names() -> SensitiveNames {
    SensitiveNames::usual()
}

/// The answer of a look at each of the names.
fn is_sensitive_by_all(names: &SensitiveNames, path: &str) -> bool {
    let folders = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<_> = folders.map(plain).collect();
    let found = names.names.iter().rev().find(|one| match one.folders.is_empty() {
        true => one.is(&plain(last(path))),
        false => one.is_path(&parts),
    });
    found.is_some_and(|one| one.counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_index_leaves_no_name_out(
        path in "((\\.?/|\\\\)?(\\.ssh|\\.config|git|gh|ssh|etc|\\.AWS|src|x|\\.env|a\\.pem|id_rsa|shadow|credentials|hosts\\.yml|key\\.pub|\\*|ﬁ|é|[a-z.:_ -]{0,3})){1,5}",
        own in prop::collection::vec("!?[a-c.*]{1,3}", 0..4),
    ) {
        prop_assert_eq!(names().is_sensitive(&path), is_sensitive_by_all(&names(), &path));
        if let Ok(own) = SensitiveNames::new(&own) {
            prop_assert_eq!(own.is_sensitive(&path), is_sensitive_by_all(&own, &path));
        }
    }
}

#[test]
fn names_are_compared_as_the_most_careless_file_system_does() {
    for path in [
        "/.env",
        "/p/.ENV",
        "/p/.env ",
        "/p/.env.",
        "/p/.env::$DATA",
        "/p/.ｅnv",
        "/p/.e\u{200c}nv",
        "/p/.env.local",
        "/KEY.PEM",
        "/id.key",
        "a\\.env",
    ] {
        assert!(names().is_sensitive(path), "{path}");
    }
    for path in ["/.env.example", "/my.environment.md", "/env", "/key", "/monkey"] {
        assert!(!names().is_sensitive(path), "{path}");
    }
}

#[test]
fn a_glob_is_sensitive_when_it_says_so() {
    for glob in [
        ".env",
        ".e*",
        ".env*",
        "*.pem",
        "*.{md,pem}",
        "**/.env.*",
        "**/*.key",
        "{a/.env,b}",
        "{a,b}/.{x,e*}",
        "a*.key",
        "{a,{b,c}}",
    ] {
        assert!(names().can_be_sensitive(glob, false), "{glob}");
    }
    for glob in [
        "*.md",
        "**/*.ts",
        "*",
        "**/*",
        "src/*.rs",
        "a*.ts",
        "**/*.{js,jsx,ts,tsx}",
        "{package,tsconfig}.json",
        "README*",
    ] {
        assert!(!names().can_be_sensitive(glob, false), "{glob}");
    }
    assert!(names().can_be_sensitive("*", true));
    assert!(!names().can_be_sensitive("src/*.ts", true));
}

#[test]
fn what_means_the_folder_of_git_is_of_git() {
    for path in [
        "/p/.git/hooks/a",
        "/p/.GIT",
        "/.git./a",
        "GIT~1\\config",
        "/.git::$INDEX_ALLOCATION/a",
        "/.g\u{200c}it",
    ] {
        assert!(is_of_git(path, false), "{path}");
    }
    assert!(is_of_git("/a.git/b", false));
    for glob in ["/p/.g?t/hooks", "/p/.*", "/.gi[t]/a", "/p/.git/*"] {
        assert!(is_of_git(glob, true), "{glob}");
    }
    for path in ["/p/.github/a", "/git/a", "/p/.gitignore", "/a.gitx/b"] {
        assert!(!is_of_git(path, false), "{path}");
        assert!(!is_of_git(path, true), "{path}");
    }
    for glob in ["/p/*", "/p/**/a", "/p/*.md", "/p/.github*"] {
        assert!(!is_of_git(glob, true), "{glob}");
    }
}

#[test]
fn a_name_with_a_folder_is_refused() {
    assert!(SensitiveNames::new(&["a/b".into()]).is_err());
}
