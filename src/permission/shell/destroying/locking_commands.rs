//! Commands that lock users out of a machine or end what runs on it: they take away its accounts, boot loader, network or
//! services. They count where they run on this machine, and not in a container.

use super::destroying_commands::{
    KILLS_ALL, OPENS_NETWORK, STOPS_MACHINE, WRITES_DISK, WRITES_SYSTEM,
};
use crate::permission::places::stops_kernel;
use crate::permission::shell::command_tables::CommandTable;
use crate::permission::shell::word::Word;

/// The kind of what is lost: an account (`W`), a disk or the way to boot (`D`), the network (`N`), services (`S`), processes (`K`).
pub(super) static LOCKS: CommandTable = CommandTable::new(
    "\
W chsh,usermod -s,--shell root !*/sh,*/bash,*/zsh,*/fish,*/dash,*/ash,*/ksh
W passwd -l,--lock,-d,--delete,-e,--expire root
W usermod -L,--lock,-e,--expiredate,-p,--password,-u,--uid,-l,--login,-d root
W chage -E,--expiredate root
W groupdel,delgroup root,sudo,wheel,admin,shadow
W gpasswd -d,--delete sudo,wheel,root
W deluser,delgroup _ sudo,wheel
W sysadminctl -deleteUser
W dscl -delete
W dscl delete,. +delete +/users*,/groups*
W crontab -r
W crontab /dev/null
W update-initramfs -d
D fastboot -w
D fastboot erase,format*
D fastboot flashing,oem lock*,unlock*
D efibootmgr -B,--delete-bootnum,-o,--bootorder,-O,--delete-bootorder
D grub-install,grub2-install,lilo !-h,--help,-V,--version,-q
D extlinux,syslinux !-h,--help,-V,--version,-v
D bootctl install,remove
D nvram -c
N iptables,ip6tables,iptables-legacy,iptables-nft,ebtables,arptables -F,--flush
N iptables,ip6tables,iptables-legacy,iptables-nft -P,--policy INPUT,OUTPUT,FORWARD DROP,REJECT
N nft +flush +ruleset
N nft *flush*
N ufw disable,reset
N firewall-cmd --panic-on
N pfctl -d,-F
N netsh advfirewall reset
N netsh advfirewall set _ state off
N systemctl,service,rc-service +stop,disable,mask,kill +firewalld*,nftables*,iptables*,ufw*
N nmcli networking,n,net off
N nmcli radio all off
N rfkill block all
N ip +link,l,li +set,s +eth*,en*,wl* +down
N ip +addr,address,a +flush +eth*,en*,wl*
N ip +route,r,ro +del,delete,flush +default,main,all
N nmcli +device,dev,d +disconnect,down,delete +eth*,en*,wl*
N ifconfig eth*,en*,wl* down
N ifdown -a,--all
N ifdown eth*,en*,wl*
N route del,delete default
S systemctl isolate !graphical*,default*,multi-user*
S systemctl,service,rc-service +stop,disable,mask,kill +dbus*,systemd-logind*,systemd-udevd*,systemd-journald*,ssh,ssh.*,sshd*,NetworkManager*,networking*,getty*,init.scope,user@*,display-manager*
S sysctl +*=*
K pkill,killall +systemd,init,launchd,dbus-daemon,sshd,systemd-logind,systemd-journald",
);

/// Returns what a command locks or ends.
pub(super) fn locks_out(base: &str, rest: &[Word]) -> Option<&'static str> {
    let (kind, _) = LOCKS.find(base, rest)?;
    let is_of_user = base == "systemctl" && rest.iter().any(|word| word.text == "--user");
    let sets = |word: &Word| {
        word.text.split_once('=').is_some_and(|(name, value)| {
            // Disables a reason for a panic.
            let is_off = value.trim() == "0" && name.contains("panic");
            stops_kernel(name.trim()) && !is_off
        })
    };
    Some(match kind {
        _ if is_of_user || base == "sysctl" && !rest.iter().any(sets) => return None,
        "W" => WRITES_SYSTEM,
        "D" => WRITES_DISK,
        "N" => OPENS_NETWORK,
        "S" => STOPS_MACHINE,
        _ => KILLS_ALL,
    })
}
