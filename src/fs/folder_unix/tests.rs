use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

type Plant = fn(&Path, &Path);

const NAME: &str = "x_1_aaaaaaaaaaaaa.txt";

/// Creates a draft with a temporary name, as on file systems without unnamed files.
fn named(folder: &Folder) -> Draft {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let name = file_names::temporary(1).unwrap();
    let fd = rustix::fs::openat(&folder.fd, name.as_str(), flags, private_file()).unwrap();
    Draft { file: File::from(fd), name: Some(name) }
}

#[test]
fn what_was_put_under_the_final_name_stays_as_it_is() {
    let plants: [(&str, Plant); 6] = [
        ("a file", |at, _| fs::write(at, "planted").unwrap()),
        ("a link", |at, precious| symlink(precious, at).unwrap()),
        ("a link to nothing", |at, precious| symlink(precious.join("x"), at).unwrap()),
        ("a hard link", |at, precious| fs::hard_link(precious, at).unwrap()),
        ("a pipe", |at, _| {
            assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
        }),
        ("a folder", |at, _| fs::create_dir(at).unwrap()),
    ];
    for (what, plant) in plants {
        let root = tempfile::tempdir().unwrap();
        let precious = root.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let dir = root.path().join("dir");
        let (folder, _) = Folder::open_or_make(&dir, SymlinkPolicy::TrustedOwners).unwrap();
        plant(&dir.join(NAME), &precious);
        let before = fs::symlink_metadata(dir.join(NAME)).unwrap().file_type();
        for mut draft in [folder.draft(1).unwrap(), named(&folder)] {
            io::Write::write_all(&mut draft.file, b"ours").unwrap();
            let error = folder.publish(&mut draft, NAME).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{what}");
            folder.publish(&mut draft, "x_1_bbbbbbbbbbbbb.txt").unwrap();
            assert_eq!(fs::read(dir.join("x_1_bbbbbbbbbbbbb.txt")).unwrap(), b"ours");
            fs::remove_file(dir.join("x_1_bbbbbbbbbbbbb.txt")).unwrap();
        }
        assert_eq!(fs::symlink_metadata(dir.join(NAME)).unwrap().file_type(), before, "{what}");
        assert_eq!(fs::read(&precious).unwrap(), b"precious", "{what}");
    }
}

#[test]
fn a_folder_is_found_through_links_only_where_they_may_be() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let dir = root.join("a/b");
    Folder::open_or_make(&dir, SymlinkPolicy::TrustedOwners).unwrap();
    symlink("a", root.join("link")).unwrap();
    symlink(root.join("link/../link/b"), root.join("far")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    for path in ["a/b", "a/./b", "a/../a/b", "link/b", "far"] {
        let folder = Folder::open(&root.join(path), SymlinkPolicy::TrustedOwners).unwrap();
        assert!(folder.put(&path.replace('/', "-"), b"").is_ok() && dir.exists(), "{path}");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 5);
    let folder = Folder::open(&dir, SymlinkPolicy::Deny).unwrap();
    assert!(folder.is(&dir) && folder.is(&root.join("a/../a/b")));
    for path in ["link/b", "far", "loop", "nowhere", "a/b/link-b", "a"] {
        assert!(!folder.is(&root.join(path)), "{path}");
    }
    for path in ["link/b", "far", "link/new"] {
        assert!(Folder::open_or_make(&root.join(path), SymlinkPolicy::Deny).is_err(), "{path}");
    }
    assert!(!root.join("a/new").exists());
    assert!(Folder::open(&root.join("loop"), SymlinkPolicy::TrustedOwners).is_err());
}
