import type { Random } from '../random.ts'

/** A value that no sensible client sends: a wrong type, a wrong size, or wrong characters. */
export function oddValue(random: Random): unknown {
  return random.pick(kinds)(random)
}

const kinds: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => '',
  (random) => random.percent(50),
  (random) => random.pick(oddNumbers),
  (random) => random.pick(oddTexts),
  (random) => random.pick(oddTexts),
  (random) => longText(random),
  (random) => oddArray(random),
  (random) => oddObject(random),
  (random) => nested(random.pick([3, 40, 150]), random),
]

const oddNumbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  1.5,
  1e-7,
  255,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  1e21,
  1e308,
]

export const oddTexts: readonly string[] = [
  ' ',
  '\t\n',
  'a\0b',
  '\0',
  '\ud800',
  'a\udc00b',
  '\uffff',
  '\ufeffa',
  '\u202eabc',
  'a\r\nSet-Cookie: a=b',
  'é',
  'e\u0301',
  '١٢٣',
  '👩‍👩‍👧‍👦',
  'İıſK',
  '0',
  '-1',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '9007199254740993',
  '99999999999999999999999999',
  'true',
  'null',
  'undefined',
  '[]',
  '{}',
  '../../etc/passwd',
  '/',
  '.',
  '..',
  '.git',
  '.git/config',
  'a//b',
  'a/',
  '/a',
  'a.lock',
  '@{-1}',
  'HEAD',
  'HEAD~1',
  ':/a',
  '^{tree}',
  'refs/heads/main',
  'refs/heads/../x',
  'main..main',
  '-x',
  '--upload-pack=touch /tmp/p',
  '%s%n%x',
  '%00',
  '%2e%2e%2f',
  "'; DROP TABLE users; --",
  '" OR 1=1',
  '\\',
  '*',
  '%',
  '_',
  '(',
  '[a-',
  '(a+)+$',
  'a{1000}{1000}',
  '<script>alert(1)</script>',
  '![a](javascript:b)',
  '@all #1 !1 %1 ~a $1 &1',
  '/close\n/label ~a\n/assign @root',
  '/spend 1e9h',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31',
  '-000001-01-01T00:00:00Z',
  '2026-01-01T25:61:61Z',
  '+275760-09-13T00:00:00.001Z',
  'http://127.0.0.1:9/',
  'http://[::1',
  'http://',
  'javascript:alert(1)',
  'ftp://127.0.0.1/a',
  'http://a@127.0.0.1:9#@b',
  'file:///etc/passwd',
  'a@b',
  'a@example.com',
  '"a b"@example.com',
  'ssh-ed25519 AAAA',
  '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n-----END PGP PUBLIC KEY BLOCK-----',
  '0'.repeat(40),
  'f'.repeat(40),
  'f'.repeat(64),
  'deadbeef',
  '1w 2d 3h',
  '*'.repeat(64),
  'a: &a [*a, *a]',
]

function longText(random: Random): string {
  const unit = random.pick([
    'x',
    'é',
    '👩',
    '[',
    '> ',
    '* a\n',
    '#',
    '(',
    'a/',
    '`',
    '\n',
    '0',
    '%',
  ])
  const length = random.pick([256, 300, 1025, 5000, 5000, 65_536])
  return unit.repeat(Math.ceil(length / unit.length))
}

function oddArray(random: Random): unknown[] {
  if (random.percent(10)) return Array.from({ length: 1001 }, (_, i) => i)
  return Array.from({ length: random.integer(0, 3) }, () => simple(random))
}

function oddObject(random: Random): Record<string, unknown> {
  const keys = random.some(['', 'a', 'id', '0', 'constructor', '__proto__', 'a[b]', 'length'], 30)
  return Object.fromEntries(keys.map((key) => [key, simple(random)]))
}

function simple(random: Random): unknown {
  if (random.percent(15)) return [null]
  if (random.percent(15)) return { a: [] }
  return random.pick<unknown>([null, true, random.pick(oddNumbers), random.pick(oddTexts)])
}

function nested(depth: number, random: Random): unknown {
  let value: unknown = 'x'
  const asArray = random.percent(50)
  for (let i = 0; i < depth; i += 1) value = asArray ? [value] : { a: value }
  return value
}

/** One segment of a path, already written for a URL. */
export function oddSegment(random: Random): string {
  return random.pick(oddSegments)(random)
}

const oddSegments: readonly ((random: Random) => string)[] = [
  (random) => random.pick(['0', '-1', '1e3', '1.5', '2147483648', '9007199254740993']),
  (random) => random.pick(['%00', 'a%00b', '%D9%A1', '%2e%2e', '%2e%2e%2f', 'a%2Fb%2F..%2Fc', '%']),
  (random) => random.pick(['%ff', '%zz', '%C3', '%ED%A0%80', 'null', 'undefined', '[]', '%5B%5D']),
  (random) => encode(random.pick(oddTexts)),
  (random) => encode(random.pick(oddTexts)),
  (random) => 'x'.repeat(random.pick([256, 300, 4000])),
  (random) => encode('é'.repeat(random.pick([64, 200]))),
]

/** A text as a segment of a path; what is no text in UTF-8 becomes a mark. */
export function encode(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed())
  return encoded === '' || encoded === '.' || encoded === '..' ? `%2E${encoded}` : encoded
}
