//! File systems of the rig's own, unmounted when they are no longer needed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::child::tool;
use super::{Result, Rig, has_tool};

/// A mounted file system.
#[derive(Debug)]
pub struct Mount {
    at: PathBuf,
}

impl Mount {
    /// A file system in memory.
    pub fn tmpfs(at: &Path, options: &str) -> Result<Self> {
        Mount::new(at, &["-t", "tmpfs", "-o", options, "none"])
    }

    /// The file system in an image.
    pub fn image(image: &Path, at: &Path) -> Result<Self> {
        Mount::new(at, &["-o", "loop", &image.display().to_string()])
    }

    fn new(at: &Path, what: &[&str]) -> Result<Self> {
        fs::create_dir_all(at)?;
        let place = at.display().to_string();
        tool("mount", &[what, &[place.as_str()]].concat())?;
        Ok(Mount { at: at.to_owned() })
    }

    /// Where it is.
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// Takes the right to write away.
    pub fn make_read_only(&self) -> Result<()> {
        tool("mount", &["-o", "remount,ro", &self.at.display().to_string()]).map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let at = self.at.display().to_string();
        if tool("umount", &[&at]).is_err() {
            let _ = tool("umount", &["--lazy", &at]);
        }
    }
}

/// Makes an image with an empty file system. Its blocks take room only when they are written to.
pub fn make_image(path: &Path, kind: &str, bytes: u64) -> Result<()> {
    File::create(path)?.set_len(bytes)?;
    let force = if kind == "ext4" { "-F" } else { "-f" };
    tool(&format!("mkfs.{kind}"), &["-q", force, &path.display().to_string()]).map(drop)
}

/// Why nothing can be mounted here, if so.
pub fn missing(rig: &Rig) -> Option<String> {
    let probe = rig.scratch.join("mount-probe");
    match Mount::tmpfs(&probe, "size=64k") {
        Ok(_) => None,
        Err(_) => Some("no right to mount".to_owned()),
    }
}

/// Why no image of this kind can be mounted here, if so.
pub fn missing_kind(rig: &Rig, kind: &str) -> Option<String> {
    if !has_tool(&format!("mkfs.{kind}")) {
        return Some(format!("mkfs.{kind} is not there"));
    }
    missing(rig).or_else(|| {
        let image = rig.scratch.join("probe.img");
        // The smallest that every kind can be made in.
        let made = make_image(&image, kind, 320 << 20);
        let mounted = made.and_then(|()| Mount::image(&image, &rig.scratch.join("mount-probe")));
        let _ = fs::remove_file(&image);
        mounted.err().map(|error| format!("{kind} cannot be mounted from an image: {error}"))
    })
}
