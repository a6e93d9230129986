//! Places that a machine or its users cannot do without: system directories, home directories, disks, and files that
//! control logins.

use super::paths::Folders;
use crate::util::words::has_word;

/// A kind of place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The root of the file system, or of a drive.
    Root,
    /// A directory that the system runs from.
    System,
    /// A system directory that users install into or mount at, and may own.
    Shared,
    /// The directory of all home directories.
    Homes,
    /// The home directory of a user.
    Home,
    /// A device that holds data, or memory.
    Disk,
    /// A file without which the system cannot start or users cannot log in.
    File,
}

/// System directories by their paths. Removing one of these, or everything in it, breaks the machine.
const SYSTEM: &str = "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /var \
    /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/include /boot/efi /boot/grub /boot/EFI \
    /var/lib /var/lib/dpkg /var/lib/rpm /var/lib/pacman /var/lib/docker /var/lib/systemd /var/spool /var/db \
    /etc/pam.d /etc/ssh /etc/ssl /etc/systemd /etc/apt /etc/init.d /etc/security /dev/disk /dev/mapper /nix /nix/store /gnu/store \
    /System /System/Library /System/Volumes /System/Volumes/Data /Library /Applications /private /private/etc /private/var /cores \
    /lib/modules /usr/lib/modules /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu \
    /sys/firmware /sys/firmware/efi /sys/firmware/efi/efivars";

const SHARED: &str =
    "/usr/local /opt /srv /mnt /media /Volumes /opt/homebrew /usr/local/bin /usr/local/lib";

const HOMES: &str = "/home /Users";

/// Top-level directories of a Windows drive.
const OF_DRIVE: &[&str] = &[
    "windows",
    "windows/system32",
    "users",
    "program files",
    "program files (x86)",
    "programdata",
];

/// Files without which users cannot log in or become root.
const FILES: &str = "\
    passwd shadow group gshadow sudoers master.passwd spwd.db pwd.db security/opasswd ld.so.preload ld.so.conf ld.so.cache \
    fstab inittab crypttab nsswitch.conf shells";

/// Files of the kernel below `/proc`, and its settings, by which it stops or starts nothing any more.
const KERNEL_FILES: &str = "sysrq-trigger kcore";
const KERNEL_SETTINGS: &str =
    "sysrq panic pid_max threads-max modules_disabled file-max min_free_kbytes";

/// Programs and libraries without which the system cannot start, or no user can log in.
const PROGRAMS: &str = "sh bash dash ash env init systemd login agetty getty su sudo mount umount \
    ls cp rm mv cat ln chmod chown mkdir tar gzip busybox coreutils ssh sshd dpkg rpm apt apt-get apk dnf pacman \
    udevadm modprobe insmod fsck ip";

const LIBRARIES: &[&str] = &["ld-linux", "ld-musl", "ld64.so", "libc.so", "libc-2", "libc.musl"];

/// Devices without data, or whose data belong to a process. Everything else in `/dev` is taken for a disk.
const NO_DISKS: &str = "\
    null zero full random urandom stdin stdout stderr fd tty console ptmx pts shm mqueue hugepages ptyp pty dri snd dsp \
    audio input uinput video usb bus net kvm fuse tcp udp cu ttys log kmsg hidraw i2c spidev gpiochip gpiomem vhost vsock \
    nvidia nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-modeset nvidia-caps fb midi autofs userfaultfd xconsole initctl watchdog rtc loop-control cuse dma_heap char dtracehelper rfkill ppp lp \
    parport printer usblp vcs vga_arbiter serial uhid media v4l rfcomm accel kfd sgx_enclave";

/// Returns the names of files and programs that a system needs.
pub(crate) fn names_of_needed_files() -> impl Iterator<Item = &'static str> {
    let names = FILES.split_ascii_whitespace().chain(PROGRAMS.split_ascii_whitespace());
    names.filter(|name| !name.contains('/'))
}

/// Returns true if a setting of the kernel, with `.` or `/` between the parts of its name, can stop it.
pub(crate) fn stops_kernel(name: &str) -> bool {
    let last = name.rsplit(['.', '/']).next().unwrap_or_default();
    has_word(KERNEL_SETTINGS, last) || last.starts_with("panic_on_") || last.ends_with("_panic")
}

/// Returns the kind of place of a directory. `path` is absolute and normalized.
pub(crate) fn protected(path: &str, folders: &Folders) -> Option<Place> {
    let path = seen_by_process(path).trim_end_matches('/');
    if path.is_empty() {
        return Some(Place::Root);
    }
    let is = |known: &str| known == path || (folders.fold_case && known.eq_ignore_ascii_case(path));
    if let Some((_, place)) = protected_folders(folders).find(|(known, _)| is(known)) {
        return Some(place);
    }
    if let Some((above, name)) = path.rsplit_once('/')
        && has_word(HOMES, above)
        && name != "Shared"
        && path != folders.vault
    {
        return Some(Place::Home);
    }
    of_drive(path, folders.windows)
}

/// Returns a path without the prefix for the root of a process: `/proc/1/root/etc`.
fn seen_by_process(path: &str) -> &str {
    let rest = path.strip_prefix("/proc/").and_then(|rest| rest.split_once('/'));
    let rest = rest.and_then(|(_, rest)| rest.strip_prefix("root"));
    rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path)
}

/// Recognizes directories of drives as Windows, its shells and its Linux write them: `/C:/`, `/c/`, `/mnt/c/`.
fn of_drive(path: &str, windows: bool) -> Option<Place> {
    let rest = path.strip_prefix("/mnt").unwrap_or(path).strip_prefix('/')?;
    let (drive, below) = rest.split_once('/').unwrap_or((rest, ""));
    let mut letters = drive.chars();
    let is_letter = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
    let is_drive = match letters.as_str() {
        ":" => true,
        "" => windows || path.starts_with("/mnt/"),
        _ => false,
    };
    if !is_letter || !is_drive {
        return None;
    }
    let below = below.to_ascii_lowercase();
    if below.is_empty() {
        return Some(Place::Root);
    }
    if let Some(user) = below.strip_prefix("users/") {
        return (!user.contains('/')).then_some(Place::Home);
    }
    OF_DRIVE.contains(&below.as_str()).then_some(Place::System)
}

/// Returns all of these directories except the homes of other users.
pub(crate) fn protected_folders(folders: &Folders) -> impl Iterator<Item = (&str, Place)> {
    let list = |names: &'static str, place: Place| {
        names.split_ascii_whitespace().map(move |name| (name, place))
    };
    let home = folders.home.as_deref().map(|home| (home.trim_end_matches('/'), Place::Home));
    list(SYSTEM, Place::System)
        .chain(list(SHARED, Place::Shared))
        .chain(list(HOMES, Place::Homes))
        .chain([("/root", Place::Home), ("/var/root", Place::Home)])
        .chain(home.filter(|(path, _)| !path.is_empty()))
}

/// Returns the kind of place of a file: a disk, or a file without which the system cannot start or users cannot log in.
/// `path` is absolute and normalized.
pub(crate) fn is_protected_file(path: &str) -> Option<Place> {
    let path = seen_by_process(path);
    let path = path.strip_prefix("/private").unwrap_or(path);
    let (top, rest) = path.strip_prefix('/')?.split_once('/')?;
    match top {
        "dev" => {
            let first = rest.split('/').next().unwrap_or_default();
            let name = first
                .trim_end_matches(|letter: char| letter.is_ascii_digit() || ".-".contains(letter));
            let is_terminal = first.starts_with("tty")
                || first.starts_with("cu.")
                || first.starts_with("pty")
                || first.starts_with("vcs");
            (!first.is_empty()
                && !is_terminal
                && !has_word(NO_DISKS, name)
                && !has_word(NO_DISKS, first))
            .then_some(Place::Disk)
        }
        "etc" => {
            (has_word(FILES, rest) || rest.starts_with("sudoers.d/") || rest.starts_with("pam.d/"))
                .then_some(Place::File)
        }
        "boot" => Some(Place::File),
        "proc" => {
            let is_setting = rest.strip_prefix("sys/").is_some_and(stops_kernel);
            (is_setting || has_word(KERNEL_FILES, rest)).then_some(Place::File)
        }
        // Writing there takes a device or a disk away from the running system.
        "sys" => (rest.starts_with("firmware/")
            || rest == "power/state"
            || rest.ends_with("/device/delete")
            || (rest.starts_with("block/") && rest.ends_with("/device/state"))
            || (rest.starts_with("bus/pci/") && rest.ends_with("/remove")))
        .then_some(Place::File),
        _ => None,
    }
}

/// Returns true for a program or a library without which nothing else runs. `path` is absolute and normalized.
pub(crate) fn is_essential_program(path: &str) -> bool {
    let path = seen_by_process(path);
    let path = path.strip_prefix("/usr").unwrap_or(path);
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    match folder {
        "/bin" | "/sbin" => has_word(PROGRAMS, name),
        _ => {
            (folder.starts_with("/lib") && LIBRARIES.iter().any(|known| name.starts_with(known)))
                || path == "/lib/systemd/systemd"
        }
    }
}

/// Returns the canonical target of a kind of file, which hard denies match.
pub(crate) fn canonical(place: Place) -> &'static str {
    if place == Place::Disk { "fs:/dev/block/" } else { "fs:/boot/" }
}
