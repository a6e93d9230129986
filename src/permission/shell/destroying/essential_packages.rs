//! Packages that a system needs to start and to let users log in, and the commands that remove packages.

use crate::permission::glob_overlap::{WILDCARDS, can_meet, literal};
use crate::permission::shell::word::Word;
use crate::util::words::row;

/// Essential packages of the distributions, by their names without a version or an architecture.
const PACKAGES: &str = "libc6 libc procd libc-bin glibc glibc-common musl bash dash coreutils base-files base-passwd filesystem setup \
    init systemd systemd-sysv sysvinit-core dpkg apt rpm rpm-libs dnf yum zypper pacman apk-tools alpine-base busybox \
    util-linux login passwd shadow libpam-runtime pam sudo mount e2fsprogs bsdutils sed grep tar gzip libgcc libgcc1 libgcc-s1 \
    libstdc++6 openssl-libs libssl3 zlib1g udev libsystemd0 findutils diffutils debianutils perl-base ncurses-base linux-image-amd64 grub2-common grub grub-pc grub-common kernel linux linux-image-generic \
    linux-generic kernel-core linux-lts mkinitcpio openrc void-base base base-system sys-libs/glibc app-shells/bash \
    sys-apps/coreutils xbps nix";

/// Programs that manage packages, with the words that remove some. A word that ends in `*` is the start of an option.
pub(super) const PACKAGE_MANAGERS: &str = "\
apt remove purge full-purge autoremove
apt-get remove purge autoremove
aptitude remove purge
dpkg -r -P --remove --purge
rpm -e* --erase
dnf remove erase rm
dnf5 remove erase rm
yum remove erase
microdnf remove
tdnf remove erase
zypper remove rm
pacman -R* --remove
apk del
xbps-remove *
emerge -C --unmerge -c --depclean
opkg remove
slackpkg remove
removepkg *
pkg delete remove
eopkg remove rm";

/// Words that select every package.
const ALL: [&str; 6] = ["?installed", "~i", "@system", "@world", "@selected", "@installed"];

/// Returns true if a command removes an essential package.
pub(super) fn removes_essential(base: &str, rest: &[Word]) -> bool {
    let Some(verbs) = row(PACKAGE_MANAGERS, base) else { return false };
    let is_apt = base.starts_with("apt");
    // Packages of FreeBSD are no part of its base system, except the program that manages them.
    let is_pkg = base == "pkg";
    let is_needed = |name: &str| is_essential(name, if is_pkg { "pkg" } else { PACKAGES });
    let only_shows = |word: &Word| {
        matches!(
            word.text.as_str(),
            "--dry-run" | "--simulate" | "--just-print" | "--test" | "--print"
        ) || (is_apt && word.text == "-s")
            || (is_pkg && letters_of_pkg(word).contains('n'))
    };
    let is_verb = |word: &Word| {
        verbs.split_ascii_whitespace().any(|verb| match verb.strip_suffix('*') {
            Some(start) => word.text.starts_with(start),
            None => word.text == verb,
        })
    };
    let removes = rest.iter().any(is_verb);
    let is_removed = |word: &Word| match word.text.strip_suffix('-').filter(|_| is_apt) {
        // `apt-get install name-` removes it.
        Some(name) => is_needed(name),
        None => removes && is_needed(&word.text),
    };
    let is_all = |word: &Word| {
        ALL.contains(&&*word.text)
            || (is_pkg && (letters_of_pkg(word).contains('a') || word.text == "--all"))
    };
    !rest.iter().any(only_shows)
        && (rest.iter().any(is_removed) || (removes && rest.iter().any(is_all)))
}

/// Returns the letters of the options of `pkg` without the values of its own.
fn letters_of_pkg(word: &Word) -> &str {
    word.option_letters("Ccjor").0
}

/// Returns true for the name of an essential package, which may have an architecture or a version, `libc6:amd64`, or wildcards.
fn is_essential(name: &str, essential: &str) -> bool {
    let name = name.split([':', '=']).next().unwrap_or_default();
    // `apt` takes expressions as well.
    let plain = name.trim_matches(['^', '$']).replace(".*", "*").replace(".+", "*");
    let name = plain.as_str();
    let is_glob = name.contains(WILDCARDS);
    // A class stands for any letter of a glob here.
    let can_be = |known: &str| match name.contains("[0-9]") {
        true => ('0'..='9').any(|digit| {
            can_meet(&name.replace("[0-9]", digit.encode_utf8(&mut [0])), true, &literal(known))
        }),
        false => can_meet(name, true, &literal(known)),
    };
    essential.split_ascii_whitespace().any(|known| known == name || (is_glob && can_be(known)))
}
