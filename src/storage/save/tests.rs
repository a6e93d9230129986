use super::*;
use crate::fs::symlink_policy::SymlinkPolicy;
use crate::storage::directories::StoreDirs;
use crate::storage::head_tail_file::part_of;
use crate::storage::lease::is_leased;
use std::fs;
use std::path::Path;

fn save_to(dirs: &[PathBuf], session: Option<Vec<u16>>) -> Save {
    let places = StoreDirs::of(dirs.to_vec(), Durability::Full);
    let request = SaveRequest { tool: "bash".to_owned(), session, call: None, now_ms: 5 };
    Save::new(Arc::new(OpenStore::new(places)), request)
}

#[test]
fn a_saved_file_is_whole_private_and_alone() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("deep/er");
    let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61]));
    save.write(b"hello ").unwrap();
    let session = fs::read_dir(dir.join(file_names::session(&[0x61]))).unwrap();
    assert!(!session.map(|entry| entry.unwrap().file_name()).any(|name| name != ".lease"));
    save.write(b"world").unwrap();
    let saved = save.publish().unwrap();
    assert_eq!(fs::read(&saved.path).unwrap(), b"hello world");
    assert_eq!(saved.bytes, 11);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&saved.path), 0o600);
        assert_eq!(mode(dir.to_str().unwrap()), 0o700);
    }
}

#[test]
fn a_folder_that_fails_is_left_for_the_next() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a-file");
    fs::write(&file, "").unwrap();
    let good = root.path().join("good");
    let mut save = save_to(&[file.clone(), good.clone()], None);
    save.write(b"text").unwrap();
    let saved = save.publish().unwrap();
    assert!(saved.path.starts_with(good.to_str().unwrap()));
    assert_eq!(saved.attempts.len(), 1);
    assert!(saved.attempts[0].error.starts_with("ENOTDIR"), "{:?}", saved.attempts);
    let error = save_to(&[file], None).write(b"text").unwrap_err();
    assert_eq!((error.code, error.attempts.len()), ("STORAGE_WRITE", 1));
}

#[test]
fn a_reserve_of_free_space_is_left() {
    let gib = 1 << 30;
    assert!(within_reserve(RESERVE, 100 * gib, 0).is_ok());
    assert!(within_reserve(RESERVE, 100 * gib, 1).is_err());
    assert!(within_reserve(RESERVE + 1, 100 * gib, 1).is_ok());
    let error = within_reserve(RESERVE - 1, 100 * gib, 0).unwrap_err();
    assert!(crate::error::os_reason(&error).contains("reserve of free space"));
    // On a small file system one percent of it is enough.
    assert!(within_reserve(1 << 20, 100 << 20, 0).is_ok() && within_reserve(0, 100, 0).is_err());
    assert!(within_reserve(0, 0, 0).is_ok());
}

#[test]
fn an_abandoned_save_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mut save = save_to(&[root.path().to_owned()], None);
    save.write(b"text").unwrap();
    drop(save);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_removed_meanwhile_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("place");
    let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61]));
    save.write(b"text").unwrap();
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(fs::read(save.publish().unwrap().path).unwrap(), b"text");
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_moved_away_meanwhile_is_made_again() {
    let session = file_names::session(&[0x61]);
    for (moved, max_bytes) in
        [("place", u64::MAX), ("place", 4096), ("session", u64::MAX), ("session", 4096)]
    {
        let root = tempfile::tempdir().unwrap();
        let (dir, elsewhere) = (root.path().join("place"), root.path().join("elsewhere"));
        let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61])).with_limit(max_bytes);
        save.write(numbered(500).as_bytes()).unwrap();
        let moved = if moved == "place" { dir.clone() } else { dir.join(&session) };
        fs::rename(moved, &elsewhere).unwrap();
        let saved = save.publish().unwrap();
        assert!(Path::new(&saved.path).starts_with(&dir) && saved.attempts.is_empty());
        let kept = fs::read(&saved.path).unwrap();
        assert_eq!((kept.len() as u64, &kept[..4]), (saved.bytes, &numbered(500).as_bytes()[..4]));
        let left = |dir: &Path| {
            let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| file_names::is_output(name.to_str().unwrap())).count()
        };
        assert_eq!((left(&elsewhere), left(&dir.join(&session))), (0, 1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_made_again_is_leased_again() {
    for max_bytes in [4096, u64::MAX] {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("place");
        let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61])).with_limit(max_bytes);
        let store = Arc::clone(&save.store);
        save.write(numbered(500).as_bytes()).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        let saved = save.publish().unwrap();
        let session =
            Folder::open(Path::new(&saved.path).parent().unwrap(), SymlinkPolicy::TrustedOwners)
                .unwrap();
        assert!(is_leased(&session), "{max_bytes}");
        store.leases.release_all();
        assert!(!is_leased(&session), "{max_bytes}");
    }
}

#[test]
fn what_is_copied_leaves_the_reserve_too() {
    let root = tempfile::tempdir().unwrap();
    let reserve = |error: &str| error.contains("reserve of free space");
    let mut save = save_to(&[root.path().join("a"), root.path().join("b")], None);
    save.write(b"text").unwrap();
    // Pretends that this many bytes were written: no disk has room for them.
    save.written = 1 << 60;
    let error = save.move_on(&io::Error::from_raw_os_error(28)).unwrap_err();
    assert!(reserve(&error.attempts[1].error), "{error:?}");

    let mut save = save_to(&[root.path().join("a")], None).with_limit(1 << 60);
    save.write(b"text").unwrap();
    save.written = (1 << 60) + 1;
    let error = save.publish().unwrap_err();
    assert!(reserve(&error.attempts[0].error), "{error:?}");
}

fn numbered(lines: usize) -> String {
    (0..lines).map(|line| format!("line {line} 你\n")).collect()
}

#[test]
fn a_file_over_its_bound_holds_both_ends_and_says_so() {
    let root = tempfile::tempdir().unwrap();
    let text = numbered(5000);
    for piece in [1, 100, 4000, 30_000, text.len()] {
        let mut save = save_to(&[root.path().to_owned()], None).with_limit(9000);
        for bytes in text.as_bytes().chunks(piece) {
            save.write(bytes).unwrap();
        }
        let saved = save.publish().unwrap();
        let part = saved.part.unwrap();
        let (bytes, expected) = part_of(text.as_bytes(), 9000);
        assert_eq!(fs::read(&saved.path).unwrap(), bytes, "pieces of {piece}");
        assert_eq!((part, saved.bytes), (expected, bytes.len() as u64));
        assert!(saved.path.ends_with(".partial.txt"));
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5);
    let mut save = save_to(&[root.path().to_owned()], None).with_limit(9000);
    save.write(&text.as_bytes()[..9000]).unwrap();
    let saved = save.publish().unwrap();
    assert_eq!(fs::read(&saved.path).unwrap(), text.as_bytes()[..9000]);
    assert!(saved.part.is_none() && !saved.path.contains("partial"));
}

#[test]
fn a_file_over_its_bound_moves_on_like_any_other() {
    let root = tempfile::tempdir().unwrap();
    let text = numbered(5000);
    let (expected, _) = part_of(text.as_bytes(), 9000);
    let full = || io::Error::from_raw_os_error(28);
    for at in [10, 4500, 9000, 20_000, 43_210] {
        let dirs = [root.path().join("a"), root.path().join("b"), root.path().join("c")];
        let mut save = save_to(&dirs, None).with_limit(9000);
        let (before, after) = text.as_bytes().split_at(at);
        save.write(before).unwrap();
        save.move_on(&full()).unwrap();
        for piece in after.chunks(1234) {
            save.write(piece).unwrap();
        }
        save.seal().unwrap();
        save.move_on(&full()).unwrap();
        let saved = save.publish().unwrap();
        assert_eq!(fs::read(&saved.path).unwrap(), expected, "moved at {at}");
        assert_eq!(saved.attempts.len(), 2);
    }
    // Each folder has `.gitignore` and `CACHEDIR.TAG` as well.
    let left = |dir: &str| fs::read_dir(root.path().join(dir)).unwrap().count();
    assert_eq!(["a", "b", "c"].map(left), [2, 2, 7]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_over_its_bound_needs_no_folder_before_it_is_whole() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("place");
    let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61])).with_limit(4096);
    save.write(numbered(500).as_bytes()).unwrap();
    fs::remove_dir_all(&dir).unwrap();
    let saved = save.publish().unwrap();
    assert_eq!((saved.attempts.len(), fs::read(saved.path).unwrap().len() > 4000), (0, true));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_moves_what_was_written() {
    // A device that is always full replaces the first folder's file.
    let root = tempfile::tempdir().unwrap();
    let mut save = save_to(&[root.path().join("a"), root.path().join("b")], None);
    save.write(b"first ").unwrap();
    let open = save.open.as_mut().unwrap();
    let half = fs::OpenOptions::new().read(true).open(root.path()).unwrap();
    let kept = std::mem::replace(&mut open.draft.file, half);
    // Writing to a folder's descriptor fails; reading back the kept part must still work.
    assert!(open.draft.file.write_all(b"x").is_err());
    open.draft.file = kept;
    save.move_on(&io::Error::from_raw_os_error(28)).unwrap();
    save.write(b"second").unwrap();
    let saved = save.publish().unwrap();
    assert_eq!(fs::read(&saved.path).unwrap(), b"first second");
    assert!(saved.attempts[0].error.starts_with("ENOSPC"));
}
