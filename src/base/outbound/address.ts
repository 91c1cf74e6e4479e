import { BlockList, isIP } from 'node:net'

/** Networks that are no part of the public Internet, from the special-purpose registries of IANA. */
const privateNetworks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:2::', 48],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

/** Where an IPv6 address carries an IPv4 one: the network, and the first of its two 16-bit groups. */
const carriers: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0], 6], // compatible
  [[0, 0, 0, 0, 0, 0xffff], 6], // mapped
  [[0, 0, 0, 0, 0xffff, 0], 6], // translated
  [[0x64, 0xff9b, 0, 0, 0, 0], 6], // NAT64
  [[0x2002], 1], // 6to4
]

const privateOnes = blockList(privateNetworks)

/** A set of addresses and networks; `10.0.0.0/8`, `::1`. */
export function addressSet(items: readonly string[]): (address: string) => boolean {
  const set = blockList(
    items.map((item) => {
      const [network = '', bits] = item.split('/')
      return [network, bits === undefined ? (isIP(network) === 4 ? 32 : 128) : Number(bits)]
    }),
  )
  return (address) => {
    const plain = plainAddress(address)
    return set.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Whether an address leads anywhere but the public Internet, in whatever form it is written. */
export function isPrivateAddress(address: string): boolean {
  const plain = plainAddress(address)
  const family = isIP(plain)
  if (family === 0) return true
  return privateOnes.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}

/** The IPv4 address that an IPv6 one carries, or the address itself, without brackets or zone. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  const groups = groupsOf(bare)
  const carrier = carriers.find(([prefix]) => prefix.every((part, at) => groups[at] === part))
  if (!carrier) return bare
  const [high = 0, low = 0] = groups.slice(carrier[1], carrier[1] + 2)
  const isShort = carrier[0].every((part) => part === 0) && high === 0 && low < 2
  return isShort ? bare : [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * What counts as one address where each has a share: of IPv6 the network of 64 bits, since one machine has all addresses of
 * it.
 */
export function sharingAddress(address: string): string {
  if (isIP(address) === 4) return address
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  const groups = groupsOf(plain).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}

/** The eight groups of an IPv6 address; the URL parser writes them in one form, a dotted tail included. */
function groupsOf(address: string): number[] {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = written.split('::')
  const parse = (part: string) =>
    part === '' ? [] : part.split(':').map((one) => parseInt(one, 16))
  const before = parse(head)
  const after = parse(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after]
}

function blockList(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of networks) {
    list.addSubnet(network, bits, isIP(network) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
