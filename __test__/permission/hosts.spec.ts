import { PermissionPolicy } from 'spillway'

const policy = new PermissionPolicy({ vault: '/vault' })
const fetched = (host: string) => policy.evaluate({ tool: 'web_fetch', args: { url: `http://${host}/x` } }).decision

const local = `
localhost LOCALHOST localhost. a.localhost router nas nas.local printer.lan x.internal x.corp x.home wiki.intranet x.private host.docker.internal x.home.arpa
gateway.localdomain db.service.consul x.ts.net fritz.box app.test
127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0x7f.1 127.0.0.1. 0 0.0.0.0 00 0x0
10.1.2.3 10.1 167772161 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 3232235777 169.254.1.1 100.64.0.1 100.127.255.255 198.18.0.1 224.0.0.1 255.255.255.255 192.0.0.8
192.0.2.1 198.51.100.1 203.0.113.1 240.0.0.1 192.88.99.1
169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 metadata metadata.google.internal metadata.google.internal. instance-data.ec2.internal
168.63.129.16 0xa83f8110 100.100.100.200 192.0.0.192 metadata.tencentyun.com [fd00:ec2::254] [fd20:ce::254]
kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local api.default.svc api.default.svc.cluster.local 10-0-0-1.default.pod.cluster.local
localtest.me a.localtest.me lvh.me x.lvh.me vcap.me lacolhost.com fuf.me localho.st app.lcl.host 127.0.0.1.nip.io 10.0.0.1.nip.io 7f000001.nip.io 127-0-0-1.sslip.io www.127.0.0.1.xip.io
7f000001.c0a80001.rbndr.us make-127.0.0.1-rr.1u.ms
[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:127.0.0.1] [::ffff:10.0.0.1] [fe80::1] [fec0::1] [fc00::1] [fd12:3456::1] [ff02::1]
[64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1] [2002:7f00:1::] [2002:a00:1::1] [2002:a9fe:a9fe::] [2001:0:53aa:64c:0:fffe:80ff:fffe] [2001::1] [2001:db8::1] [2001:10::1]
[3fff::1] [100::1] [::ffff:a83f:8110] [2606:4700::5efe:7f00:1]
①②⑦.⓪.⓪.① １２７.０.０.１ localhost。 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ
`
  .split(/\s+/)
  .filter(Boolean)

const open = `
example.com www.example.com local.example.com internal.example.com localhost.example.com test.example.com svc.example.com.evil.org nip.io.example.com
8.8.8.8 1.1.1.1 134744072 0x08080808 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 169.253.1.1 168.63.129.17 100.0.0.1 198.20.0.1 11.0.0.1 126.1 223.1.1.1 9.9.9.9
[2606:4700::1111] [2001:4860:4860::8888] [2a00:1450:4001::1] [::ffff:8.8.8.8] [64:ff9b::8.8.8.8] [2002:808:808::1] [2400:cb00::1]
github.com api.github.com docs.rs registry.npmjs.org pypi.org developer.mozilla.org localtest.com lvh.com nips.io snip.io.com latest.me domain.box private.com home.com corp.example.org
thelocal.se mylocalhost.com notlocalhost.dev internal.io local.ch test.com lan.com xn--bcher-kva.example.org 1password.com 4.example.com 127.0.0.1.example.com
`
  .split(/\s+/)
  .filter(Boolean)

test('hosts of the machine, its networks and clusters, and the data of clouds are asked about', () => {
  expect(local.length).toBeGreaterThan(100)
  // An address that cannot be read is asked about, too.
  expect(local.filter((host) => fetched(host) !== 'ask')).toEqual([])
})

test('hosts of the internet are fetched without a question', () => {
  expect(open.filter((host) => fetched(host) !== 'allow')).toEqual([])
})
