//! File systems of the rig, which are unmounted on drop.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::child::tool;
use super::{Result, Rig, has_tool};

/// A mounted file system.
#[derive(Debug)]
pub(crate) struct Mount {
    at: PathBuf,
}

impl Mount {
    /// Mounts a file system in memory.
    pub(crate) fn tmpfs(at: &Path, options: &str) -> Result<Self> {
        Mount::new(at, &["-t", "tmpfs", "-o", options, "none"])
    }

    /// Mounts the file system in an image.
    pub(crate) fn image(image: &Path, at: &Path) -> Result<Self> {
        Mount::new(at, &["-o", "loop", &image.display().to_string()])
    }

    fn new(at: &Path, what: &[&str]) -> Result<Self> {
        fs::create_dir_all(at)?;
        let place = at.display().to_string();
        tool("mount", &[what, &[place.as_str()]].concat())?;
        Ok(Mount { at: at.to_owned() })
    }

    /// Returns the mount point.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Remounts read-only.
    pub(crate) fn make_read_only(&self) -> Result<()> {
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

/// Creates an image with an empty file system. Its blocks take space only once they are written.
pub(crate) fn make_image(path: &Path, kind: &str, bytes: u64) -> Result<()> {
    File::create(path)?.set_len(bytes)?;
    let force = if kind == "ext4" { "-F" } else { "-f" };
    tool(&format!("mkfs.{kind}"), &["-q", force, &path.display().to_string()]).map(drop)
}

/// Returns the reason why nothing can be mounted here.
pub(crate) fn missing(rig: &Rig) -> Option<String> {
    let probe = rig.scratch.join("mount-probe");
    match Mount::tmpfs(&probe, "size=64k") {
        Ok(_) => None,
        Err(_) => Some("no right to mount".to_owned()),
    }
}

/// Returns the reason why no image of this kind can be mounted here.
pub(crate) fn missing_kind(rig: &Rig, kind: &str) -> Option<String> {
    if !has_tool(&format!("mkfs.{kind}")) {
        return Some(format!("mkfs.{kind} is not there"));
    }
    missing(rig).or_else(|| {
        let image = rig.scratch.join("probe.img");
        // The minimum size for all kinds.
        let made = make_image(&image, kind, 320 << 20);
        let mounted = made.and_then(|()| Mount::image(&image, &rig.scratch.join("mount-probe")));
        let _ = fs::remove_file(&image);
        mounted.err().map(|error| format!("{kind} cannot be mounted from an image: {error}"))
    })
}
