//! Folders that cannot be saved to, for realistic reasons. The next folder is used; without one the text for the model
//! is returned all the same and states the reason.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::child::{run, tool};
use super::content::Tag;
use super::faults::check_final;
use super::mounts::{self, Mount, make_image};
use super::one::OUTPUT;
use super::report::{Finding, Report};
use super::strace;
use super::{Result, Rig, files, has_tool};

/// Long enough to fill the disk in the middle.
const LENGTH: u64 = 6 << 20;
/// Maximum additional memory of a save compared with one into a healthy folder.
const MEMORY_KIB: u64 = 4 << 10;
const NOBODY: u32 = 65534;

/// A folder that cannot be saved to.
struct Bad {
    dir: PathBuf,
    /// The command before the process: another user, a limit, a fault.
    wrapper: Vec<String>,
    /// The reason must contain one of these.
    reasons: Vec<&'static str>,
    /// True if the cause is not the folder, so that the other one fails too.
    is_everywhere: bool,
    is_nobody: bool,
    _mount: Option<Mount>,
}

impl Bad {
    fn new(dir: PathBuf, reasons: &[&'static str]) -> Self {
        Bad {
            dir,
            wrapper: Vec::new(),
            reasons: reasons.to_vec(),
            is_everywhere: false,
            is_nobody: false,
            _mount: None,
        }
    }

    fn on(self, mount: Mount) -> Self {
        Bad { _mount: Some(mount), ..self }
    }

    fn under(self, wrapper: &[&str]) -> Self {
        Bad { wrapper: wrapper.iter().map(|&word| word.to_owned()).collect(), ..self }
    }
}

type Make = fn(&Rig, &Path) -> Result<std::result::Result<Bad, String>>;

const CASES: [(&str, Make); 14] = [
    ("ENOSPC, bytes", |rig, root| on_tmpfs(rig, root, "size=64m", Some(60 << 20), &["ENOSPC"])),
    ("ENOSPC, files", |rig, root| on_tmpfs(rig, root, "size=64m,nr_inodes=2", None, &["ENOSPC"])),
    ("the reserve of free space", |rig, root| {
        on_tmpfs(rig, root, "size=64m", Some((64 << 20) - (300 << 10)), &["reserve of free space"])
    }),
    ("EIO", |_, root| injected(root, "write:error=EIO:when=1")),
    ("EDQUOT", quota),
    ("EROFS", |rig, root| {
        if let Some(reason) = mounts::missing(rig) {
            return Ok(Err(reason));
        }
        let mount = Mount::tmpfs(root, "size=1m")?;
        mount.make_read_only()?;
        Ok(Ok(Bad::new(root.join("outputs"), &["EROFS"]).on(mount)))
    }),
    ("EACCES", |_, root| {
        if !rustix::process::geteuid().is_root() || !has_tool("setpriv") {
            return Ok(Err("needs root and setpriv".to_owned()));
        }
        fs::create_dir(root)?;
        fs::set_permissions(root, fs::Permissions::from_mode(0o700))?;
        let user = NOBODY.to_string();
        let drop_rights = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"];
        let bad = Bad::new(root.join("outputs"), &["EACCES"]).under(&drop_rights);
        Ok(Ok(Bad { is_nobody: true, ..bad }))
    }),
    ("EMFILE", |_, root| {
        if !has_tool("prlimit") {
            return Ok(Err("prlimit is not there".to_owned()));
        }
        fs::create_dir(root)?;
        let bad = Bad::new(root.join("outputs"), &["EMFILE"]).under(&["prlimit", "--nofile=4"]);
        Ok(Ok(Bad { is_everywhere: true, ..bad }))
    }),
    ("ENOTDIR", |_, root| {
        fs::write(root, "a file")?;
        Ok(Ok(Bad::new(root.join("outputs"), &["ENOTDIR"])))
    }),
    ("ELOOP", |_, root| {
        symlink(root, root)?;
        Ok(Ok(Bad::new(root.join("outputs"), &["ELOOP"])))
    }),
    ("ENAMETOOLONG", |_, root| Ok(Ok(Bad::new(root.join("x".repeat(300)), &["ENAMETOOLONG"])))),
    ("a link to nowhere", |_, root| {
        symlink("/nowhere/at/all", root)?;
        Ok(Ok(Bad::new(root.to_owned(), &["ENOENT", "ENOTDIR"])))
    }),
    ("a folder that may not be changed", |_, root| {
        fs::create_dir(root)?;
        if tool("chattr", &["+i", &root.display().to_string()]).is_err() {
            return Ok(Err("chattr +i is not possible here".to_owned()));
        }
        Ok(Ok(Bad::new(root.to_owned(), &["EPERM", "EACCES"])))
    }),
    ("a folder of another user", |_, root| {
        if !rustix::process::geteuid().is_root() {
            return Ok(Err("needs root".to_owned()));
        }
        fs::create_dir(root)?;
        chown(root, Some(NOBODY), Some(NOBODY))?;
        Ok(Ok(Bad::new(root.to_owned(), &["belongs to another user"])))
    }),
];

fn on_tmpfs(
    rig: &Rig,
    root: &Path,
    options: &str,
    filled: Option<usize>,
    reasons: &[&'static str],
) -> Result<std::result::Result<Bad, String>> {
    if let Some(reason) = mounts::missing(rig) {
        return Ok(Err(reason));
    }
    let mount = Mount::tmpfs(root, options)?;
    if let Some(bytes) = filled {
        fs::write(root.join("filler"), vec![1; bytes])?;
    }
    Ok(Ok(Bad::new(root.join("outputs"), reasons).on(mount)))
}

fn injected(root: &Path, fault: &str) -> Result<std::result::Result<Bad, String>> {
    if let Some(reason) = strace::missing() {
        return Ok(Err(reason));
    }
    let errno = if fault.contains("EDQUOT") { "EDQUOT" } else { "EIO" };
    let inject = format!("inject={fault}");
    let wrapper = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e", &inject];
    // A folder that exists already gets no marker files, so the first write is one of the output.
    let dir = root.join("outputs");
    fs::create_dir_all(&dir)?;
    Ok(Ok(Bad::new(dir, &[errno]).under(&wrapper)))
}

/// Creates a real quota where btrfs is available, and simulates its error otherwise.
fn quota(rig: &Rig, root: &Path) -> Result<std::result::Result<Bad, String>> {
    if !has_tool("btrfs") || mounts::missing_kind(rig, "btrfs").is_some() {
        return injected(root, "write:error=EDQUOT:when=1");
    }
    let image = rig.scratch.join("quota.img");
    make_image(&image, "btrfs", 320 << 20)?;
    let mount = Mount::image(&image, root)?;
    let inside = root.join("limited").display().to_string();
    tool("btrfs", &["quota", "enable", &root.display().to_string()])?;
    tool("btrfs", &["subvolume", "create", &inside])?;
    tool("btrfs", &["qgroup", "limit", "2M", &inside])?;
    Ok(Ok(Bad::new(root.join("limited"), &["EDQUOT"]).on(mount)))
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    let healthy = memory_of_a_healthy_save(rig).map_err(|error| error.to_string());
    for (name, make) in CASES {
        report.bench("B12", &format!("a bad folder: {name}"), || {
            let root = rig.scratch.join("bad");
            let bad = match make(rig, &root)? {
                Ok(bad) => bad,
                Err(reason) => return Ok(Finding::skipped(reason)),
            };
            let wrong = check(rig, &bad, healthy.clone()?).err().map(|error| error.to_string());
            drop(bad);
            let _ = tool("chattr", &["-i", &root.display().to_string()]);
            let _ = fs::remove_dir_all(&root).or_else(|_| fs::remove_file(&root));
            Ok(Finding::new(vec![(json!(2), "saves")], wrong))
        });
    }
}

fn memory_of_a_healthy_save(rig: &Rig) -> Result<u64> {
    let found = save(rig, &[], &[rig.scratch.join("degrade-healthy")])?;
    let memory = found["memory"].as_u64().filter(|memory| *memory > 0);
    memory.ok_or_else(|| {
        format!("a save into a healthy folder does not say its memory: {found}").into()
    })
}

fn save(rig: &Rig, wrapper: &[String], dirs: &[PathBuf]) -> Result<Value> {
    let mut one = rig.process("one");
    one.args(["--saver", "product", "--sessions", "--length", &LENGTH.to_string()]);
    for dir in dirs {
        one.arg("--dir").arg(dir);
    }
    let mut command = match wrapper.split_first() {
        None => one,
        Some((program, args)) => {
            let mut command = Command::new(program);
            command.args(args).arg(one.get_program()).args(one.get_args()).current_dir("/");
            command
        }
    };
    let ended = run(&mut command, Duration::from_secs(60))?;
    serde_json::from_str(&ended.printed)
        .map_err(|_| format!("{:?} {:?}: {}", ended.code, ended.signal, ended.complaint).into())
}

fn check(rig: &Rig, bad: &Bad, healthy: u64) -> Result<()> {
    let good = rig.folder("good")?;
    if bad.is_nobody {
        chown(&good, Some(NOBODY), Some(NOBODY))?;
    }
    let names = |reason: &Value| {
        let reason = reason.as_str().unwrap_or_default();
        bad.reasons.iter().any(|each| reason.contains(each))
    };
    let found = save(rig, &bad.wrapper, &[bad.dir.clone(), good.clone()])?;
    if found["shown"].as_u64().is_none_or(|bytes| bytes == 0) {
        return Err("there is no text for the model".into());
    }
    let outcome = &found["outcome"];
    let of = if bad.is_everywhere { &outcome["saveError"] } else { &outcome["saved"] };
    let first = &of["attempts"][0];
    if first["dir"] != json!(bad.dir) || !names(&first["error"]) {
        return Err(format!("the first attempt is {first}: {outcome}").into());
    }
    if !bad.is_everywhere {
        let path = outcome["saved"]["path"].as_str().unwrap_or_default();
        if !Path::new(path).starts_with(&good) {
            return Err(format!("saved as {path:?}").into());
        }
        check_final(&rig.block, Path::new(path), &Tag { length: LENGTH, ..OUTPUT })?;
    }
    let used = found["memory"].as_u64().unwrap_or(u64::MAX);
    if !bad.is_everywhere && used > healthy + MEMORY_KIB {
        return Err(format!("{used} KiB of memory, and {healthy} for a healthy folder").into());
    }
    let wrapper: Vec<String> =
        bad.wrapper.iter().map(|word| word.replace(":when=1", ":when=1+")).collect();
    let found = save(rig, &wrapper, &[bad.dir.clone(), bad.dir.clone()])?;
    let error = &found["outcome"]["saveError"];
    if !names(&error["message"]) || found["shown"].as_u64().is_none_or(|bytes| bytes == 0) {
        return Err(format!("with no other folder: {found}").into());
    }
    let is_ours =
        |path: &&PathBuf| path.extension().is_some_and(|end| end == "txt" || end == "tmp");
    if let Some(file) = files(&bad.dir).unwrap_or_default().iter().find(is_ours) {
        return Err(format!("{} is left", file.display()).into());
    }
    Ok(())
}
