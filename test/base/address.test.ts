import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressSet, isPrivateAddress, plainAddress } from '../../src/base/outbound/address.ts'
import { makeGuard } from '../../src/base/outbound/outbound-guard.ts'

/** First and last address of what RFC 6890 and its successors keep off the public Internet, as numbers. */
const privateRanges: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
]

const numberOf = (address: string) =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const dotted = (n: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.')
const ranges = privateRanges.map(([first, last]) => [numberOf(first), numberOf(last)] as const)
const isPrivate = (n: number) => ranges.some(([first, last]) => n >= first && n <= last)

const privateOnes = fc
  .constantFrom(...ranges)
  .chain(([min, max]) => fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max)))
/** The addresses next to a range are public, if they are in no other. */
const publicOnes = fc
  .oneof(
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.constantFrom(...ranges.flatMap(([first, last]) => [first - 1, last + 1])),
  )
  .filter((n) => n >= 0 && n < 2 ** 32 && !isPrivate(n))

const hex = (n: number) => n.toString(16)
const high = (n: number) => Math.floor(n / 65_536)
const low = (n: number) => n % 65_536

/** The ways in which an IPv6 address carries an IPv4 one. */
const carried: readonly ((n: number) => string)[] = [
  (n) => `::ffff:${dotted(n)}`,
  (n) => `::ffff:${hex(high(n))}:${hex(low(n))}`,
  (n) => `0:0:0:0:0:FFFF:${hex(high(n))}:${hex(low(n))}`,
  (n) => `::ffff:0:${dotted(n)}`,
  (n) => `64:ff9b::${dotted(n)}`,
  (n) => `64:ff9b::${hex(high(n))}:${hex(low(n))}`,
  (n) => `2002:${hex(high(n))}:${hex(low(n))}::`,
  (n) => `2002:${hex(high(n))}:${hex(low(n))}::1`,
]

/** The ways in which a URL may write an IPv4 address. */
const written: readonly ((n: number) => string)[] = [
  dotted,
  String,
  (n) => `0x${hex(n)}`,
  (n) => `0${n.toString(8)}`,
  (n) =>
    dotted(n)
      .split('.')
      .map((part) => `0${Number(part).toString(8)}`)
      .join('.'),
  (n) =>
    dotted(n)
      .split('.')
      .map((part) => `0x${hex(Number(part))}`)
      .join('.'),
  (n) => `${Math.floor(n / 2 ** 24)}.${n % 2 ** 24}`,
  (n) => `${Math.floor(n / 2 ** 24)}.${Math.floor(n / 65_536) % 256}.${low(n)}`,
  (n) => `${dotted(n)}.`,
  (n) => dotted(n).replaceAll('.', '。'),
  (n) => dotted(n).replace('.', '%2e'),
  ...carried.map((form) => (n: number) => `[${form(n)}]`),
]

describe('an IPv4 address', () => {
  test('of a private network is private, in whatever IPv6 address it is carried', () => {
    fc.assert(
      fc.property(privateOnes, (n) => {
        const forms = [dotted(n), ...carried.map((form) => form(n))]
        expect(forms.filter((form) => !isPrivateAddress(form))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('of the Internet is not, in none of them', () => {
    fc.assert(
      fc.property(publicOnes, (n) => {
        const forms = [dotted(n), ...carried.map((form) => form(n))]
        expect(forms.filter(isPrivateAddress)).toEqual([])
        expect(new Set(forms.map(plainAddress))).toEqual(new Set([dotted(n)]))
      }),
      { numRuns: 300 },
    )
  })

  test('in a URL is blocked or let through by what it means, however it is written', async () => {
    const guard = makeGuard({
      allow: [],
      resolve: () => Promise.reject(new Error('an address is not looked up')),
    })
    const verdict = async (host: string) => {
      try {
        const { addresses } = await guard.resolve(`http://me@${host}:8080/x?y#@z`)
        return addresses[0]
      } catch (error) {
        return (error as { reason?: string }).reason
      }
    }
    await fc.assert(
      fc.asyncProperty(privateOnes, fc.constantFrom(...written), async (n, write) => {
        expect([write(n), await verdict(write(n))]).toEqual([write(n), 'blocked'])
      }),
      { numRuns: 200 },
    )
    await fc.assert(
      fc.asyncProperty(publicOnes, fc.constantFrom(...written), async (n, write) => {
        expect([write(n), await verdict(write(n))]).toEqual([write(n), dotted(n)])
      }),
      { numRuns: 200 },
    )
  })
})

describe('an IPv6 address', () => {
  const group = fc.integer({ min: 0, max: 0xffff })
  const below = (first: number, mask: number) =>
    fc
      .tuple(group, fc.array(group, { minLength: 7, maxLength: 7 }))
      .map(([one, rest]) => [(first & mask) | (one & ~mask & 0xffff), ...rest].map(hex).join(':'))

  test.each([
    ['unique local', below(0xfc00, 0xfe00)],
    ['link-local', below(0xfe80, 0xffc0)],
    ['site-local', below(0xfec0, 0xffc0)],
    ['multicast', below(0xff00, 0xff00)],
    ['for segment routing', below(0x5f00, 0xffff)],
  ])('that is %s is private', (_, addresses) => {
    fc.assert(
      fc.property(addresses, (address) => isPrivateAddress(address)),
      { numRuns: 50 },
    )
  })

  test('of the Internet is not', () => {
    // 2600::/12 is given to networks of North America.
    fc.assert(
      fc.property(below(0x2600, 0xfff0), (address) => !isPrivateAddress(address)),
      { numRuns: 100 },
    )
  })

  test.each([
    '::',
    '::1',
    '::2',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:db8::1',
    '3fff::1',
    '3fff:fff::1',
    '64:ff9b:1::1',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '[::1]',
    'not an address',
    '',
    '1.2.3',
    '1.2.3.4.5',
  ])('%j is none of the Internet', (address) => {
    expect(isPrivateAddress(address)).toBe(true)
  })

  test.each(['2001:4860:4860::8888', '2a00:1450::1', '4000::1', '[2606:4700::1]'])(
    '%s is one',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    },
  )
})

test('a set holds an address in each form in which it may come, and its neighbours not', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 32 - 2 }),
      fc.integer({ min: 8, max: 32 }),
      (n, bits) => {
        const size = 2 ** (32 - bits)
        const first = Math.floor(n / size) * size
        const holds = addressSet([`${dotted(first)}/${bits}`])
        const inside = [n, first, first + size - 1]
        for (const one of inside)
          expect([dotted(one), ...carried.map((form) => form(one))].every(holds)).toBe(true)
        for (const one of [first - 1, first + size])
          if (one >= 0 && one < 2 ** 32) expect(holds(dotted(one))).toBe(false)
      },
    ),
    { numRuns: 100 },
  )
})
