import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PackedRefs } from '../../../src/git/ref-files/packed-refs.ts'
import type { Ref } from '../../../src/git/types.ts'
import { runs } from '../../support/runs.ts'

const idOf = (number: number) => (number * 7919 + 17).toString(16).padStart(40, '0')
const byName = (a: Ref, b: Ref) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

/** Names that share starts, hold bytes beyond ASCII, and sort around the slash. */
const part = fc.constantFrom('a', 'aa', 'ab', 'b', 'a-', 'a.', 'a0', 'ä', '日本', '𝒳', 'z')
const name = fc
  .tuple(
    fc.constantFrom('heads', 'tags', 'merge-requests'),
    fc.array(part, { minLength: 1, maxLength: 3 }),
  )
  .map(([kind, parts]) => `refs/${kind}/${parts.join('/')}`)
const refs = fc
  .uniqueArray(name, { maxLength: 40 })
  .map((names) => names.map((each, i) => ({ name: each, id: idOf(i) })))

const header = '# pack-refs with: peeled fully-peeled sorted \n'

/** A file as git writes it: every third ref is an annotated tag with its target below. */
function fileOf(all: readonly Ref[], first = header): Buffer {
  const lines = all.map(
    ({ id, name: each }, i) => `${id} ${each}\n${i % 3 === 2 ? `^${idOf(i + 500)}\n` : ''}`,
  )
  return Buffer.from(first + lines.join(''))
}

const prefixes = [
  'refs/',
  'refs/heads/',
  'refs/tags/',
  'refs/heads/a/',
  'refs/heads/aa/',
  'refs/tags/日本/',
  'refs/none/',
]

function expectLike(packed: PackedRefs, all: readonly Ref[]): void {
  const sorted = all.toSorted(byName)
  for (const ref of sorted) {
    expect(packed.find(ref.name)).toBe(ref.id)
    expect(packed.find(`${ref.name}/`)).toBeUndefined()
    expect(packed.find(ref.name.slice(0, -1))).toBe(
      all.find((other) => other.name === ref.name.slice(0, -1))?.id,
    )
  }
  for (const prefix of prefixes) {
    const below = sorted.filter((ref) => ref.name.startsWith(prefix))
    expect(packed.list(prefix)).toEqual(below)
    expect(packed.hasBelow(prefix)).toBe(below.length > 0)
  }
}

describe('packed refs', () => {
  test('are found and listed wherever they stand in a sorted file', () => {
    fc.assert(
      fc.property(refs, (all) => expectLike(new PackedRefs(fileOf(all.toSorted(byName))), all)),
      runs(150, 3),
    )
  })

  test('are found in a file that nobody has sorted, or of which nobody says so', () => {
    fc.assert(
      fc.property(refs, fc.constantFrom('', '# pack-refs with: peeled \n'), (all, first) =>
        expectLike(new PackedRefs(fileOf(all, first)), all),
      ),
      runs(80, 5),
    )
  })

  test('may end without a line feed', () => {
    const all = [1, 2, 3].map((i) => ({ name: `refs/heads/b${i}`, id: idOf(i) }))
    const whole = fileOf(all)
    expectLike(new PackedRefs(whole.subarray(0, whole.length - 1)), all)
  })

  test('of SHA-256 have ids of 64 digits', () => {
    const ref = { name: 'refs/heads/main', id: 'ab'.repeat(32) }
    expectLike(new PackedRefs(fileOf([ref])), [ref])
  })

  test.each([
    ['an empty file', ''],
    ['a header alone', header],
    ['comments alone', '# one\n# two\n'],
    ['a line without a name', `${header}${idOf(1)}\n`],
    ['what is no id', `${header}nonsense refs/heads/main\n`],
    ['line feeds alone', '\n\n\n'],
    ['a target without its tag', `${header}^${idOf(1)}\n`],
  ])('of %s are none, and nothing breaks', (_what, text) => {
    const packed = new PackedRefs(Buffer.from(text))
    expect(packed.list('refs/')).toEqual([])
    expect(packed.find('refs/heads/none')).toBeUndefined()
    expect(packed.hasBelow('refs/tags/')).toBe(false)
  })

  test('a list asked for again is the same one, and another prefix gets its own', () => {
    const all = Array.from({ length: 20 }, (_, i) => ({
      name: `refs/${i % 2 ? 'heads' : 'tags'}/r${String(i).padStart(2, '0')}`,
      id: idOf(i),
    })).toSorted(byName)
    const packed = new PackedRefs(fileOf(all))
    expect(packed.list('refs/heads/')).toBe(packed.list('refs/heads/'))
    expect(packed.list('refs/tags/')).toHaveLength(10)
    expect(packed.list('refs/heads/')).toHaveLength(10)
  })
})
