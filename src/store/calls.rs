//! System calls on files, made again when a signal interrupts them.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::{Result, retry_on_intr};
use rustix::path::Arg;

pub(super) fn openat(
    dir: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd> {
    retry_on_intr(|| fs::openat(&dir, path, flags, mode))
}

#[cfg(target_os = "linux")]
pub(super) fn openat2(
    dir: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
    resolve: fs::ResolveFlags,
) -> Result<OwnedFd> {
    retry_on_intr(|| fs::openat2(&dir, path, flags, Mode::empty(), resolve))
}

pub(super) fn mkdirat(dir: impl AsFd, path: impl Arg + Copy, mode: Mode) -> Result<()> {
    retry_on_intr(|| fs::mkdirat(&dir, path, mode))
}

pub(super) fn linkat(
    from: impl AsFd,
    old: impl Arg + Copy,
    to: impl AsFd,
    new: impl Arg + Copy,
    flags: AtFlags,
) -> Result<()> {
    retry_on_intr(|| fs::linkat(&from, old, &to, new, flags))
}

pub(super) fn unlinkat(dir: impl AsFd, path: impl Arg + Copy, flags: AtFlags) -> Result<()> {
    retry_on_intr(|| fs::unlinkat(&dir, path, flags))
}

pub(super) fn statat(dir: impl AsFd, path: impl Arg + Copy, flags: AtFlags) -> Result<Stat> {
    retry_on_intr(|| fs::statat(&dir, path, flags))
}

pub(super) fn fchmod(file: impl AsFd, mode: Mode) -> Result<()> {
    retry_on_intr(|| fs::fchmod(&file, mode))
}

#[cfg(target_os = "linux")]
pub(super) fn chmodat(dir: impl AsFd, path: impl Arg + Copy, mode: Mode) -> Result<()> {
    retry_on_intr(|| fs::chmodat(&dir, path, mode, AtFlags::empty()))
}

pub(super) fn fsync(file: impl AsFd) -> Result<()> {
    retry_on_intr(|| fs::fsync(&file))
}

#[cfg(target_os = "linux")]
pub(super) fn rename_exclusively(
    dir: impl AsFd,
    from: impl Arg + Copy,
    to: impl Arg + Copy,
) -> Result<()> {
    let flags = fs::RenameFlags::NOREPLACE;
    retry_on_intr(|| fs::renameat_with(&dir, from, &dir, to, flags))
}
