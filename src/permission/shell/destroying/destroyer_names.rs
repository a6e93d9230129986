//! Names of programs that can destroy a place, and the words and options with which they do.

/// Programs that remove their arguments with everything in them.
pub(super) const REMOVERS: &str = "\
    rm grm zf_rm srm rimraf del del-cli trash trash-put wipe shred gshred unlink gunlink truncate gtruncate rmdir grmdir mv gmv erase rd remove_directory \
    rmtrash rip safe-rm saferm trash-cli gomi remove-item ri";

/// Those that match the globs in their arguments themselves.
pub(super) const GLOBBERS: &str = "rimraf del del-cli trash trash-cli";

/// Programs that create a file system, a partition or a volume on their argument.
pub(super) const FORMATTERS: &str = "\
    mke2fs mkswap mkntfs mkdosfs mkexfatfs mkudffs mkreiserfs mkisofs pvcreate pvremove vgremove lvremove vgreduce lvreduce \
    flash_erase flash_eraseall flashcp nandwrite ubiformat btrfstune blkdiscard nwipe scrub sg_format sg_sanitize sg_unmap \
    sg_write_same partimage make-bcache dban";

/// Programs that do so only with one of these words, and on a disk.
pub(super) const WITH_WORD: &str = "\
wipefs -a --all -o --offset -af -fa
hdparm --security-erase --security-erase-enhanced --trim-sector-ranges --trim-sector-ranges-stdin --please-destroy-my-drive --write-sector --make-bad-sector --dco-restore --repair-sector
nvme format sanitize write write-zeroes write-uncor dsm delete-ns
cryptsetup luksFormat luksErase erase reencrypt format luksRemoveKey luksKillSlot
veracrypt -c --create
bcachefs format remove
mdadm --stop -S --fail --set-faulty --create -C --zero-superblock --build -B
badblocks -w -n
debugfs -w
fallocate -p --punch-hole -z --zero-range -c --collapse-range
asr restore -erase --erase
partclone.restore -s
gpt destroy create remove
qemu-img create
tune2fs -O -I -U
ntfsresize -s --size
fatresize -s --size
xfs_repair -L
btrfs --repair zero-log remove
pvresize --setphysicalvolumesize
resize2fs -M";

/// Programs that change the firmware, the boot order or the devices of the machine with one of these words.
pub(super) const FIRMWARE: &str = "\
flashrom -w --write -E --erase
mtd erase write
dmsetup remove_all wipe_table load suspend remove
mmc erase
vgchange -an
vgcfgrestore *";

/// Programs that destroy what they name with one of these words, whatever the name is.
pub(super) const POOLS: &str = "\
zpool destroy labelclear
zfs destroy
gpart destroy delete restore
geli kill init
gmirror destroy clear
graid delete
glabel clear destroy
camcontrol format sanitize -e
nvmecontrol format sanitize
bsdlabel -w
disklabel -w
boot0cfg -b
trim -f
diskutil erasedisk erasevolume partitiondisk zerodisk randomdisk secureerase reformat deletecontainer deletevolume";

/// Partition editors.
pub(super) const PARTITIONERS: &str = "fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted";

/// Words with which they only read.
pub(super) const PARTITIONER_READ_OPTIONS: &str = "\
    -l --list -d --dump -J --json -V --verify -p --print -v --version -s --show-size -g --show-geometry -x -lu \
    -ul --list-free -F print p -h --help";

/// Commands of `parted` that write, which it takes by their beginning, too.
pub(super) const PART_VERBS: &str = "\
    mklabel mktable mkpart mkpartfs mkfs rm resizepart resize rescue name set toggle type disk_set disk_toggle";

/// Options of `sgdisk` that only read. The same letters mean other things to the other editors.
pub(super) const SGDISK_READ_OPTIONS: &str = "\
    -p --print -i --info -v --verify -O --print-mbr -b --backup -L --list-types -f --first-in-largest -F \
    --first-aligned-in-largest -E --end-of-largest -D --display-alignment -h --help -V --version";

/// Options with which programs only say what they would do, with the letter of the first, the letters of other options
/// without a value, and words that may stand before.
pub(super) const PRETENDING: &str = "\
zfs n fprRv destroy
lvremove t fyvq --test --force --yes --verbose --quiet
vgremove t fyvq --test --force --yes --verbose --quiet
pvremove t fyvq --test --force --yes --verbose --quiet
lvreduce t fyvqrn --test --force --yes --verbose --quiet
vgreduce t fyvqa --test --force --yes --verbose --quiet
sfdisk n fqw --no-act --force --quiet
wipefs n afq --no-act --all --force --quiet";

/// Names of the folders of the system that are links where `/usr` holds them.
pub(super) const LINKS: &str = "bin sbin lib lib32 lib64 libx32";

/// Programs that write to their last argument.
pub(super) const IMAGERS: &str = "\
    ddrescue dd_rescue e2image qemu-img nbdcopy bmaptool asr partclone.dd xorriso dcfldd dc3dd rpi-imager etcher \
    etcher-cli balena balena-etcher";

/// Programs that unpack an archive, the letter that says so, and the letter and the name of the option for the folder.
pub(super) const UNPACKERS: &[(&[&str], &str, &str)] = &[
    (&["tar", "gtar", "bsdtar"], "x", "C directory"),
    (&["cpio", "bsdcpio"], "i", "D directory"),
    (&["unzip"], "", "d"),
    (&["7z", "7za", "7zz", "7zr"], "x", "o"),
];

/// Programs that change permissions.
pub(super) const RIGHTS: &str = "chmod chown chgrp setfacl chattr chflags icacls";

/// Further programs of which something is known here or where their processes end.
pub(super) const OTHERS: &str = "resize2fs lvresize btrfs dd cp tee install ln sponge touch gcp scp ed ex patch vi vim nvim perl ruby sed \
    gsed awk gawk rsync tar zip 7z git find gfind fd fdfind userdel deluser passwd usermod chage format kill killall5 pkill killall \
    skill slay loginctl launchctl ipmitool kexec busctl dbus-send gdbus shutdown reboot halt poweroff init telinit systemctl umount \
    mount mke2fs fsfreeze pmset rtcwake gtar bsdtar unzip cpio 7za 7zz 7zr bsdcpio fuser bfs \
    gio rar rename rename.ul prename file-rename perl-rename mmv kvm aria2c curl qemu-system qdbus qdbus6 gdb lldb hg svn jj";

/// Programs that put a compressed file in the place of each that they are given.
pub(super) const COMPRESSORS: &str = "\
    gzip pigz bzip2 pbzip2 lbzip2 xz pixz lzma lzip plzip compress ncompress zstd zstdmt pzstd lz4 lzop brotli lrzip";

/// Those that keep the file without one of these options.
pub(super) const KEEPING_COMPRESSORS: &str = "\
zstd --rm
zstdmt --rm
pzstd --rm
lz4 --rm
lzop -U --delete
brotli -j --rm
lrzip -D --delete";

/// Programs that rewrite the programs and libraries which they are given.
pub(super) const REWRITERS: &str = "strip sstrip upx patchelf chrpath";
