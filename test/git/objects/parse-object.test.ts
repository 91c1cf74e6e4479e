import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommits } from '../../../src/git/objects/commit.ts'
import {
  entryStarts,
  modeText,
  parseCommit,
  parseTag,
  parseTree,
  typeOfMode,
} from '../../../src/git/objects/parse-object.ts'
import { parsePerson } from '../../../src/git/objects/parse-person.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { emptyTree } from '../../../src/git/types.ts'
import { type GitWorld, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
let repo: Repo
beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

/** Stores bytes as they are, which no git program would write. */
function store(type: string, data: Buffer): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data])
  const id = createHash('sha1').update(whole).digest('hex')
  const folder = join(repo.path, 'objects', id.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, id.slice(2)), deflateSync(whole))
  return id
}

const text = fc.constantFrom('Ana', 'Ana  B.', 'é', '日本', 'a,b', '"q"', '', ' ', 'x.y', "o'n")
const mail = fc.constantFrom('a@b.c', '', 'a b', 'é@x', 'none', ' a@b ', 'A@B.C')
const seconds = fc.constantFrom('86400', '90061', '1632121572', '4294967296', '99999999999')
const zone = fc.constantFrom('+0000', '-0000', '+0530', '-0330', '+1400', '-1200', '+0001')

const person = fc
  .tuple(text, mail, seconds, zone)
  .map(([name, email, when, where]) => `${name} <${email}> ${when} ${where}`)

describe('people of commits', () => {
  test('are those that git shows, name by name and second by second', async () => {
    const people = fc.sample(fc.tuple(person, person), { numRuns: 120, seed: 8 })
    const ids = people.map(([author, committer], i) =>
      store(
        'commit',
        Buffer.from(`tree ${emptyTree}\nauthor ${author}\ncommitter ${committer}\n\nof ${i}\n`),
      ),
    )
    const format = '%H%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%ci%x00%B%x01'
    const input = ids.map((id) => `${id}\n`).join('')
    const args = ['log', '--no-walk=unsorted', '--stdin', `--format=${format}`]
    const shown = gitBytes(repo.path, args, { input })
      .toString('utf8')
      .split('\x01\n')
      .filter(Boolean)
    const read = await readCommits(repo, ids)
    expect(read).toHaveLength(ids.length)
    for (const [i, commit] of read.entries()) {
      const [id, name, email, at, ...committed] = (shown[i] ?? '').split('\0')
      const [committerName, committerEmail, ct, iso = '', message] = committed
      const { author, committer } = commit
      expect([commit.id, author.name, author.email.trim(), String(author.seconds)]).toEqual([
        ...[id, name, email?.trim(), at],
      ])
      expect([committer.name, committer.email.trim(), String(committer.seconds)]).toEqual([
        ...[committerName, committerEmail?.trim(), ct],
      ])
      // `2021-09-20 09:06:12 +0200` of git.
      const [day, time, offset = ''] = iso.split(' ')
      const zoned = `${offset.slice(0, 3)}:${offset.slice(3)}`.replace('-00:00', '+00:00')
      expect(committer.date).toBe(`${day}T${time}.000${zoned}`)
      expect(commit.message.trimEnd()).toBe(message?.trimEnd())
    }
  })

  test.each([
    ['Ana <a@b> 1 +0200', 'Ana', 'a@b', 1, 120],
    ['<a@b> 1 +0000', '', 'a@b', 1, 0],
    ['Ana <a@b>', 'Ana', 'a@b', 0, 0],
    ['Ana <a@b> soon', 'Ana', 'a@b', 0, 0],
    ['Ana <a@b> 5', 'Ana', 'a@b', 5, 0],
    ['Ana', 'Ana', '', 0, 0],
    ['', '', '', 0, 0],
    ['Ana <a@b> 1 +9999', 'Ana', 'a@b', 1, 0],
    ['Ana <a@b> 1 -9999', 'Ana', 'a@b', 1, 0],
    ['Ana <<a@b>> 7 -0100', 'Ana', '<a@b', 7, -60],
    ['Ana <a@b> 99999999999999999999 +0000', 'Ana', 'a@b', 0, 0],
  ] as const)('%j are read as far as they go', (line, name, email, at, offset) => {
    expect(parsePerson(line)).toMatchObject({ name, email, seconds: at, offset })
  })

  test('always have a date that can be read again', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.nat(), fc.integer(), (name, at, where) => {
        const read = parsePerson(`${name} <x@y> ${at} ${where}`)
        expect(new Date(read.date).getTime()).toBe(read.seconds * 1000)
      }),
      runs(300, 6),
    )
  })
})

describe('a commit', () => {
  const head = `tree ${emptyTree}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n`

  test('may have headers that nobody knows, in several lines', () => {
    const raw = Buffer.from(
      `${head}mergetag object 1\n type commit\n tag x\n\nunknown header\n\n`.replace(
        'x\n\nunknown',
        'x\nunknown',
      ),
    )
    const commit = parseCommit('1'.repeat(40), raw)
    expect(commit).toMatchObject({ treeId: emptyTree, parentIds: [], message: '', title: '' })
    expect(commit.signature).toBeUndefined()
  })

  test.each([
    ['\ntitle\n\nbody', 'title'],
    ['\n\n\n  title  \nsecond', 'title'],
    ['\ntitle\r\nsecond', 'title'],
    ['\n', ''],
    ['', ''],
    ['\n \t \n', ''],
  ])('with the text %j has the title %j', (body, title) => {
    expect(parseCommit('1'.repeat(40), Buffer.from(head + body)).title).toBe(title)
  })

  test.each([
    ['without a tree', 'author A <a@b> 1 +0000\n\nx'],
    ['of nothing', ''],
    ['with half an id', `tree ${emptyTree.slice(1)}\n\nx`],
    ['with a parent that is none', `${head}parent 123\n\nx`],
  ])('%s is damaged', (_what, raw) => {
    expect(() => parseCommit('1'.repeat(40), Buffer.from(raw))).toThrow('cannot be read')
  })

  test.each([
    ['ISO-8859-1', Buffer.from([0xe9]), 'é'],
    ['latin1', Buffer.from([0xe9]), 'é'],
    ['windows-1252', Buffer.from([0x80, 0x93, 0x81, 0xe9]), '€“\x81é'],
    ['CP1252', Buffer.from([0x99]), '™'],
    ['koi8-r', Buffer.from([0xc1]), 'а'],
    ['Shift_JIS', Buffer.from([0x93, 0xfa]), '日'],
    ['UTF-8', Buffer.from('é'), 'é'],
    ['no-such-thing', Buffer.from('é'), 'é'],
  ])('in %s is read in it', (encoding, bytes, shown) => {
    const raw = Buffer.concat([Buffer.from(`${head}encoding ${encoding}\n\n`), bytes])
    expect(parseCommit('1'.repeat(40), raw).message).toBe(shown)
  })
})

describe('a tag', () => {
  const head = `object ${emptyTree}\ntype tree\ntag v1\n`

  test('may have no tagger, as old ones have not', () => {
    const tag = parseTag('2'.repeat(40), Buffer.from(`${head}\nold\n`))
    expect(tag).toMatchObject({
      name: 'v1',
      targetId: emptyTree,
      targetType: 'tree',
      message: 'old\n',
    })
    expect(tag.tagger).toBeUndefined()
  })

  test.each(['PGP SIGNATURE', 'PGP MESSAGE', 'SSH SIGNATURE', 'SIGNED MESSAGE'])(
    'ends where its %s begins',
    (kind) => {
      const signature = `-----BEGIN ${kind}-----\nabc\n-----END ${kind}-----\n`
      const raw = `${head}tagger A <a@b> 1 +0000\n\ntext\n${signature}`
      expect(parseTag('2'.repeat(40), Buffer.from(raw))).toMatchObject({
        message: 'text\n',
        signature,
        tagger: { name: 'A', seconds: 1 },
      })
    },
  )

  test('that speaks of a signature in the middle of a line has none', () => {
    const raw = `${head}\nsee -----BEGIN PGP SIGNATURE-----\n`
    expect(parseTag('2'.repeat(40), Buffer.from(raw)).signature).toBeUndefined()
  })
})

describe('a tree', () => {
  const entry = fc.record({
    mode: fc.constantFrom('40000', '100644', '100755', '120000', '160000', '100664'),
    name: fc.uint8Array({ minLength: 1, maxLength: 12 }).filter((name) => !name.includes(0)),
    id: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  })
  const bytesOf = (entries: readonly { mode: string; name: Uint8Array; id: Uint8Array }[]) =>
    Buffer.concat(
      entries.flatMap(({ mode, name, id }) => [
        ...[Buffer.from(`${mode} `), name, Buffer.of(0), id],
      ]),
    )

  test('of any bytes is taken apart and its entries can be cut out of it', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const data = bytesOf(entries)
        const parsed = parseTree('3'.repeat(40), data)
        expect(
          parsed.map(({ mode, name, id }) => [mode.toString(8), name.toString('hex'), id]),
        ).toEqual(
          entries.map(({ mode, name, id }) => [
            ...[mode, Buffer.from(name).toString('hex'), Buffer.from(id).toString('hex')],
          ]),
        )
        const starts = entryStarts('3'.repeat(40), data)
        expect(starts).toHaveLength(entries.length + 1)
        for (const [i, one] of parsed.entries()) {
          expect(parseTree('3'.repeat(40), data.subarray(starts[i], starts[i + 1]))).toEqual([one])
        }
      }),
      runs(150, 12),
    )
  })

  test('that is cut off anywhere but between entries is damaged', () => {
    const [one] = fc.sample(fc.array(entry, { minLength: 3, maxLength: 3 }), {
      seed: 4,
      numRuns: 1,
    })
    const data = bytesOf(one ?? [])
    const ends = new Set(entryStarts('3'.repeat(40), data))
    for (let length = 0; length <= data.length; length += 1) {
      const part = data.subarray(0, length)
      if (ends.has(length)) expect(parseTree('3'.repeat(40), part).length).toBeLessThanOrEqual(3)
      else expect(() => parseTree('3'.repeat(40), part)).toThrow('cannot be read')
    }
  })

  test.each([
    [0o040000, 'tree', '040000'],
    [0o100644, 'blob', '100644'],
    [0o100664, 'blob', '100664'],
    [0o100755, 'blob', '100755'],
    [0o120000, 'blob', '120000'],
    [0o160000, 'commit', '160000'],
  ])('has under the mode %i a %s, written %s', (mode, type, shown) => {
    expect([typeOfMode(mode), modeText(mode)]).toEqual([type, shown])
  })
})
